// The stretch of a video in which all of a quote is said. A moment may end, or begin, within a sentence
// that is shown whole.
import type { Span } from "./types";

export type Sentence = Span & { text: string };

/** A stretch, grown to hold every sentence of a text that its borders cut. */
export function expandToSentences({ start, end }: Span, text: string, sentences: Sentence[]): Span {
  const cut = sentences.filter(
    (one) => one.start < end && one.end > start && one.text.trim() && text.includes(one.text.trim()),
  );
  return {
    start: Math.min(start, ...cut.map((one) => one.start)),
    end: Math.max(end, ...cut.map((one) => one.end)),
  };
}
