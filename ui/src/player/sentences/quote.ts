// The span of a video that contains a whole quote. A moment may start or end within a sentence that is
// shown in full.
import type { Span } from "../../api/types";

export type Sentence = Span & { text: string };

/** Extends a span to include every sentence of `text` that its borders cut. */
export function expandToSentences({ start, end }: Span, text: string, sentences: Sentence[]): Span {
  const cut = sentences.filter(
    (one) => one.start < end && one.end > start && one.text.trim() && text.includes(one.text.trim()),
  );
  return {
    start: Math.min(start, ...cut.map((one) => one.start)),
    end: Math.max(end, ...cut.map((one) => one.end)),
  };
}
