// Finds words in a transcript, and the corrections that replace them.
import { wordChanges, type NewCorrection } from "../log/corrections";
import type { SpeechTurn } from "../log/log.svelte";
import { splitWords, textOf, type SpokenWords, type WordRange } from "./words";

/** A match: its words, and its place in the text of the turn. */
export type Match = WordRange & { turn: number; start: number; end: number };

const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N} ]/gu, "");
const isCapital = (text: string) => /^\P{L}*\p{Lu}/u.test(text);
const turnText = (turn: SpeechTurn) => splitWords(turn.text).join(" ");

/** The matches of a text, regardless of case, in the order of the transcript. */
export function findMatches(turns: SpeechTurn[], { firsts }: SpokenWords, query: string): Match[] {
  const pattern = splitWords(query)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join(" ");
  if (!pattern) return [];
  const expression = new RegExp(pattern, "giu");
  return turns.flatMap((turn, index) => {
    const text = turnText(turn);
    const wordAt = (place: number) => firsts[index] + text.slice(0, place).split(" ").length - 1;
    return [...text.matchAll(expression)].map(({ index: start, 0: found }) => ({
      turn: index,
      first: wordAt(start),
      last: wordAt(start + found.length - 1),
      start,
      end: start + found.length,
    }));
  });
}

/** The corrections that turn some words into others, in the turns that have the words. */
export function replaceWords(
  turns: SpeechTurn[],
  spoken: SpokenWords,
  { first, last }: WordRange,
  text: string,
): NewCorrection[] {
  const { words, firsts } = spoken;
  const [from, to] = [words[first].turn, words[last].turn];
  const whole = { first: firsts[from], last: firsts[to + 1] - 1 };
  const before = textOf(spoken, whole);
  const rest = (range: WordRange) => (range.first <= range.last ? textOf(spoken, range) : "");
  const after = [
    rest({ first: whole.first, last: first - 1 }),
    text,
    rest({ first: last + 1, last: whole.last }),
  ].join(" ");
  const spans = turns.slice(from, to + 1);
  const span = {
    start: Math.min(...spans.map(({ start }) => start)),
    end: Math.max(...spans.map(({ end }) => end)),
  };
  return wordChanges(before, after).map((change) => ({ of: "words" as const, ...change, ...span }));
}

/** The words of a match with the found text replaced. */
function replacedText(turns: SpeechTurn[], match: Match, text: string): string {
  const whole = turnText(turns[match.turn]);
  const start = whole.lastIndexOf(" ", match.start) + 1;
  const next = whole.indexOf(" ", match.end);
  const end = next < 0 ? whole.length : next;
  const replaced = whole.slice(start, match.start) + text.trim() + whole.slice(match.end, end);
  // Punctuation alone is no word.
  return plain(replaced).trim() ? replaced : "";
}

/** The corrections that replace one match. */
export const replaceMatch = (turns: SpeechTurn[], spoken: SpokenWords, match: Match, text: string) =>
  replaceWords(turns, spoken, match, replacedText(turns, match, text));

/** The corrections that replace all matches; each applies to the whole video. */
export function replaceAllMatches(
  turns: SpeechTurn[],
  spoken: SpokenWords,
  matches: Match[],
  text: string,
): NewCorrection[] {
  const changes = new Map<string, NewCorrection>();
  for (const match of matches) {
    const from = textOf(spoken, match);
    // The service ignores case and punctuation. It keeps the capital at the start of a sentence if the
    // correction is written without one.
    const same = changes.get(plain(from));
    if (same && (isCapital(from) || !isCapital(same.from))) continue;
    changes.set(plain(from), { of: "words", from, to: replacedText(turns, match, text) });
  }
  // A longer phrase may contain a shorter one, which is then replaced by its own correction.
  return [...changes.values()].toSorted((a, b) => b.from.length - a.from.length);
}
