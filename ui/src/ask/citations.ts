// Citations in answers.
import { analyzerName, clock, joinList } from "../i18n/format";
import { m } from "../i18n/language.svelte";

export type Piece = { text: string; cited?: { id: string; start: number; end: number } };

/** Plays a cited moment of a video, from the sentence with these words if there are any. */
export type PlayCitation = (id: string, start: number, end: number, words: string) => void;

/** The first words in quotation marks; empty if there are none. */
export const quotedWords = (text: string) => /“([^”]+)”/.exec(text)?.[1] ?? "";

/** Replaces the ids of aggregators that the service names in a refusal by their names. */
export const withResultNames = (text: string) =>
  text.replace(/These results may say more: ([\w, ]+)\./, (_, ids: string) =>
    m.answer.sayMore(joinList(ids.split(", ").map(analyzerName))),
  );

/** Splits a text at its citations, which look like [<video_id> 12.3-15.8s]. */
export function splitCitations(text: string): Piece[] {
  const result: Piece[] = [];
  let last = 0;
  for (const match of text.matchAll(/\[([0-9A-Za-z_-]+) (\d+(?:\.\d+)?)\s*[-–]\s*(\d+(?:\.\d+)?)s?\]/g)) {
    const start = Number(match[2]);
    result.push({ text: text.slice(last, match.index) });
    result.push({ text: clock(start), cited: { id: match[1], start, end: Number(match[3]) } });
    last = match.index + match[0].length;
  }
  result.push({ text: text.slice(last) });
  return result.filter((piece) => piece.text);
}
