// What is said within a span of a transcript.
import type { Span, Utterance } from "../../api/types";

/** The words whose middle is within a span. Without times of words, whole sentences. */
export function spoken(utterances: Utterance[], { start, end }: Span): string {
  let last: string | undefined;
  const parts = utterances.flatMap(({ speaker, text, words }) => {
    const within = words?.filter((word) => {
      const middle = (word.start + word.end) / 2;
      return middle >= start && middle < end;
    });
    const said = (within?.map((word) => word.text.trim()).join(" ") ?? text).trim();
    if (!said) return [];
    const changes = speaker !== undefined && speaker !== last;
    last = speaker;
    return changes ? `${speaker}: ${said}` : said;
  });
  return parts.join(" ");
}
