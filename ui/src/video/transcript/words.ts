// The words of a transcript with their times. Where the service has no times of words, they are estimated from
// the times of turns and sentences and from the lengths of the words.
import type { Span } from "../../api/types";
import type { Sentence, SpeechTurn } from "../log/log.svelte";

/** `turn` is the index of its turn, `sentence` a number that the words of one sentence share. `estimated` words
 * have no times of the service. `confidence` is the probability of the word, if it is known. */
export type Word = Span & {
  text: string;
  turn: number;
  sentence: number;
  estimated: boolean;
  confidence?: number;
};

/** `firsts` are the indices of the first word of each turn, and the number of all words. */
export type SpokenWords = { words: Word[]; firsts: number[] };

/** A range of word indices; `last` is part of it. */
export type WordRange = { first: number; last: number };

/** Sentences and turns may differ by this much, in seconds. */
const TOLERANCE = 0.05;
/** What a span is extended by on both sides, at most into the words around it, in seconds. */
const MARGIN = 0.12;

/** A shorter pause after a word belongs to it, in seconds. */
const SHORT_PAUSE = 0.4;

/** Turns are in the order of their starts up to this difference, in seconds. */
const OVERLAP = 60;

export const splitWords = (text: string) => text.split(/\s+/).filter(Boolean);

/** The time of a word, and its probability. */
type Timed = Span & { confidence?: number };

/** `span` is there if the service has it. */
type Token = { text: string; sentence: number; place: number; span?: Timed };

/** Words with a lower probability are unsure: about half of them are wrong. */
const UNSURE = 0.6;

export const isUnsure = ({ confidence = 1 }: { confidence?: number }) => confidence < UNSURE;

/** The tokens of the sentences that may be part of a turn. */
function tokensNear(turn: SpeechTurn, sentences: Sentence[]): Token[] {
  return sentences.flatMap((one, sentence) => {
    const near = one.start < turn.end + TOLERANCE && one.end > turn.start - TOLERANCE;
    const same = !turn.speaker || !one.speaker || one.speaker === turn.speaker;
    if (!near || !same) return [];
    const spans = spansOf(one);
    return splitWords(one.text).map((text, place) => ({ text, sentence, place, span: spans?.[place] }));
  });
}

/** The times of the words of a sentence; undefined if they are not known. A corrected word may have several parts. */
function spansOf({ text, words }: Sentence): Timed[] | undefined {
  const parts = words?.flatMap((word) => {
    const texts = splitWords(word.text);
    const { confidence } = word;
    return spread(texts, word).map((span, at) => ({ ...span, text: texts[at], confidence }));
  });
  const whole = splitWords(text);
  const same = parts?.length === whole.length && parts.every((part, at) => part.text === whole[at]);
  return same ? parts : undefined;
}

/** The tokens that are the words of a turn; undefined if the sentences do not contain them. */
function align(texts: string[], tokens: Token[]): Token[] | undefined {
  const start = tokens.findIndex((_, first) => texts.every((text, at) => tokens[first + at]?.text === text));
  return start < 0 ? undefined : tokens.slice(start, start + texts.length);
}

/** Spreads words over a span, each in proportion to its length. */
function spread(texts: string[], { start, end }: Span): Span[] {
  const total = texts.reduce((sum, text) => sum + text.length + 1, 0);
  let passed = 0;
  return texts.map((text) => {
    const from = start + (passed / total) * (end - start);
    passed += text.length + 1;
    return { start: from, end: start + (passed / total) * (end - start) };
  });
}

/** The words of one turn. `own` is the number of the sentence if the turn is in no sentence. */
function wordsOf(turn: SpeechTurn, index: number, sentences: Sentence[], own: number): Word[] {
  const texts = splitWords(turn.text);
  const tokens = align(texts, tokensNear(turn, sentences));
  if (!tokens)
    return spread(texts, turn).map((span, at) => {
      return { ...span, text: texts[at], turn: index, sentence: own, estimated: true };
    });
  const words: Word[] = [];
  for (let from = 0; from < tokens.length;) {
    const { sentence, place } = tokens[from];
    const next = tokens.findIndex((one, at) => at > from && one.sentence !== sentence);
    const to = next < 0 ? tokens.length : next;
    const whole = sentences[sentence];
    const complete = place + to - from === splitWords(whole.text).length;
    const span = {
      start: place === 0 ? Math.max(whole.start, turn.start) : turn.start,
      end: complete ? Math.min(whole.end, turn.end) : turn.end,
    };
    const part = texts.slice(from, to);
    spread(part, span).forEach((guess, at) => {
      const known = tokens[from + at].span;
      const { start, end, confidence } = known ?? { ...guess, confidence: undefined };
      words.push({ start, end, text: part[at], turn: index, sentence, estimated: !known, confidence });
    });
    from = to;
  }
  return words;
}

/** The words of all turns. `sentences` are sorted by start, and empty if the service has none. */
export function buildWords(turns: SpeechTurn[], sentences: Sentence[]): SpokenWords {
  const words: Word[] = [];
  const firsts: number[] = [];
  let passed = 0;
  turns.forEach((turn, index) => {
    firsts.push(words.length);
    // Turns of overlapping voices are not in the order of their times, but close to it.
    while (passed < sentences.length && sentences[passed].end < turn.start - OVERLAP) passed += 1;
    const until = sentences.findIndex(({ start }, at) => at >= passed && start > turn.end + TOLERANCE);
    const near = sentences.slice(passed, until < 0 ? undefined : until);
    const own = sentences.length + index;
    for (const word of wordsOf(turn, index, near, own - passed))
      words.push({ ...word, sentence: word.sentence + passed });
  });
  firsts.push(words.length);
  return { words, firsts };
}

/** The word that is spoken at a time; -1 in a pause. The latest turn wins where voices overlap. */
export function wordAt({ words, firsts }: SpokenWords, turn: number, time: number): number {
  if (turn < 0) return -1;
  const inTurn = words.slice(firsts[turn], firsts[turn + 1]);
  const at = inTurn.findLastIndex(({ start }) => start <= time);
  if (at < 0) return -1;
  const next = inTurn[at + 1]?.start ?? Infinity;
  const end = next - inTurn[at].end < SHORT_PAUSE ? next : inTurn[at].end;
  return time < end ? firsts[turn] + at : -1;
}

/** The span of some words. It may begin and end in the pauses around them, but not within other words. */
export function spanOf({ words }: SpokenWords, turns: SpeechTurn[], { first, last }: WordRange): Span {
  const all = words.slice(first, last + 1);
  const around = (at: number, word: Word) =>
    words[at]?.turn === word.turn && !word.estimated ? words[at] : undefined;
  const starts = all.map((word, at) => {
    const before = around(first + at - 1, word)?.end ?? 0;
    return Math.max(turns[word.turn].start, Math.min(word.start, Math.max(before, word.start - MARGIN)));
  });
  const ends = all.map((word, at) => {
    const after = around(first + at + 1, word)?.start ?? Infinity;
    return Math.min(turns[word.turn].end, Math.max(word.end, Math.min(after, word.end + MARGIN)));
  });
  const start = Math.max(0, Math.min(...starts));
  return { start: Number(start.toFixed(3)), end: Number(Math.max(...ends).toFixed(3)) };
}

export const textOf = ({ words }: SpokenWords, { first, last }: WordRange) =>
  words
    .slice(first, last + 1)
    .map(({ text }) => text)
    .join(" ");

/** What each speaker says within some words, in order; `speaker` is empty without diarization. */
export function linesOf(
  spoken: SpokenWords,
  turns: SpeechTurn[],
  { first, last }: WordRange,
): { speaker: string; text: string }[] {
  const lines: { speaker: string; text: string }[] = [];
  for (const { turn, text } of spoken.words.slice(first, last + 1)) {
    const { speaker } = turns[turn];
    const line = lines.at(-1);
    if (line?.speaker === speaker) line.text += ` ${text}`;
    else lines.push({ speaker, text });
  }
  return lines;
}
