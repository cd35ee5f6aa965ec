// Where a moment that was searched for is played from: the sentence with the words of the search.
import { highlightQuery } from "../../controls/highlight";
import type { Span } from "../../api/types";
import type { Sentence } from "./quote";

/** Seconds that are played before the sentence. */
const LEAD = 0.5;

/** Number of different words of the query in a text. */
const countWords = (text: string, query: string) =>
  new Set(
    highlightQuery(text, query)
      .filter(({ hit }) => hit)
      .map((part) => part.text.toLowerCase()),
  ).size;

/**
 * The start of the sentence with the most words of the query, and with at least half of them; otherwise that
 * of the span.
 */
export function startOfWords(span: Span, query: string, sentences: Sentence[]): number {
  const least = Math.max(1, countWords(query, query) / 2);
  const spoken = sentences
    .filter((one) => one.start < span.end && one.end > span.start)
    .map(({ start, text }) => ({ start, words: countWords(text, query) }));
  const most = Math.max(...spoken.map(({ words }) => words));
  const best = most >= least ? spoken.find(({ words }) => words === most) : undefined;
  return best ? Math.max(0, best.start - LEAD) : span.start;
}
