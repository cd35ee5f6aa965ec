// Citations in answers.
import { clock } from "../i18n/format";

export type Piece = { text: string; cited?: { id: string; start: number; end: number } };

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
