// The caret of the transcript and the words that it selects by keys.
import type { SpokenWords, WordRange } from "./words";

/** `caret` and `anchor` are indices of words; without an anchor nothing is selected. */
export type Caret = { caret: number; anchor: number | null };

export const selectedRange = ({ caret, anchor }: Caret): WordRange | null =>
  anchor === null ? null : { first: Math.min(caret, anchor), last: Math.max(caret, anchor) };

/** Where an arrow key, Home or End moves to; null for other keys. */
function target(key: string, { words, firsts }: SpokenWords, caret: number): number | null {
  const { turn } = words[caret];
  const place = caret - firsts[turn];
  const inTurn = (other: number) => Math.min(firsts[other] + place, firsts[other + 1] - 1);
  if (key === "ArrowLeft") return Math.max(0, caret - 1);
  if (key === "ArrowRight") return Math.min(words.length - 1, caret + 1);
  if (key === "ArrowUp") return turn > 0 ? inTurn(turn - 1) : 0;
  if (key === "ArrowDown") return turn < words[words.length - 1].turn ? inTurn(turn + 1) : words.length - 1;
  if (key === "Home") return firsts[turn];
  if (key === "End") return firsts[turn + 1] - 1;
  return null;
}

/**
 * The caret after a key; null for keys that do not move it. With Shift, the first left or right arrow selects
 * the word at the caret, and the following keys extend the selection.
 */
export function moveCaret(
  { key, shiftKey }: { key: string; shiftKey: boolean },
  spoken: SpokenWords,
  { caret, anchor }: Caret,
): Caret | null {
  const to = spoken.words.length ? target(key, spoken, caret) : null;
  if (to === null) return null;
  if (!shiftKey) return { caret: to, anchor: null };
  const sideways = key === "ArrowLeft" || key === "ArrowRight";
  if (anchor === null) return { caret: sideways ? caret : to, anchor: caret };
  return { caret: to, anchor };
}
