// Questions that a video can answer, from what is stored about it: words that are said or shown, speakers and
// sections. Each has a form that the service answers from stored facts, without a language model.
import { allItems } from "../api/outputs";
import type { Chunk, Fields, Presentation, Span } from "../api/types";
import { clock } from "../i18n/format";
import type { Messages } from "../i18n/en";

export type Evidence = {
  chunks: Chunk[];
  /** Results of aggregators, by id. */
  aggregates: Fields;
  analyzers: Presentation[];
  aggregators: Presentation[];
  duration: number;
};

/** The number of questions. */
const COUNT = 3;
/** Shorter words are rarely worth asking for; longer ones are those of languages without spaces. */
const MIN_WORD = 5;
const MAX_WORD = 18;
/** The longest text on screen that is quoted in a question, in characters. */
const MAX_LINE = 32;

const ofKind = (all: Presentation[], kind: string) => all.filter((shown) => shown.kind === kind);
const chunkItems = ({ chunks, analyzers }: Evidence, kind: string) =>
  chunks.flatMap((chunk) =>
    ofKind(analyzers, kind).flatMap((shown) => allItems(chunk[shown.id], shown, chunk)),
  );
const resultItems = ({ aggregates, aggregators, duration }: Evidence, kind: string) =>
  ofKind(aggregators, kind).flatMap((shown) =>
    allItems(aggregates[shown.id], shown, { start: 0, end: duration }),
  );

/**
 * The word that says most about what is said: a name if there is one, otherwise the longest word. A name that
 * is on screen, too, is recognised correctly.
 */
export function keyWord(texts: string[], lines: string[]): string | undefined {
  const isUsable = (word: string) => word.length >= MIN_WORD && word.length <= MAX_WORD;
  // A capital letter within a sentence marks a name.
  const names = texts
    .flatMap((text) => text.match(/(?<=[\p{Ll},] )\p{Lu}\p{Ll}+(?![\p{L}'’-])/gu) ?? [])
    .filter(isUsable);
  const words = texts.flatMap((text) => text.match(/(?<![\p{L}'’-])\p{Ll}+(?![\p{L}'’-])/gu) ?? []);
  const [longest] = words.filter(isUsable).toSorted((a, b) => b.length - a.length);
  const onScreen = lines.join(" ").toLowerCase();
  return names.find((name) => onScreen.includes(name.toLowerCase())) ?? names[0] ?? longest;
}

/** The first short text on screen that has words. */
export const keyLine = (lines: string[]): string | undefined =>
  lines
    .map((line) => line.trim())
    .find((line) => line.length <= MAX_LINE && !/[“”"]/.test(line) && /\p{L}{4}/u.test(line));

/** Up to three questions, those about what is said first, in the words of `texts`. */
export function starterQuestions(evidence: Evidence, texts: Messages["starters"]): string[] {
  const speech = chunkItems(evidence, "speech").filter(({ label }) => label.trim());
  const lines = chunkItems(evidence, "screen_text").map(({ label }) => label);
  const word = keyWord(
    speech.map(({ label }) => label),
    lines,
  );
  const line = keyLine(lines);
  const speakers = new Set(speech.map(({ speaker }) => speaker).filter(Boolean));
  const isSpoken = ({ start, end }: Span) => speech.some((one) => one.start >= start && one.end <= end);
  const sections = resultItems(evidence, "sections")
    .filter(({ text }) => text)
    .map((one) => (isSpoken(one) ? texts.said : texts.happens)(clock(one.start), clock(one.end)));
  return [
    word && texts.mentioned(word),
    line && texts.onScreen(line),
    speakers.size > 1 && texts.talksMost,
    ...sections,
    texts.duration,
  ]
    .filter((one): one is string => Boolean(one))
    .slice(0, COUNT);
}
