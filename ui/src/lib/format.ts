// Formats times, counts, ids and citations.
import type { Names } from "../words/names";
import { link } from "./address.svelte";
import { errorReason } from "./failure";
import { m, number } from "./language.svelte";

export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${tail}` : tail;
}

export const humanize = (id: string) => id.replaceAll("_", " ");
export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
/** The message for an answer that failed. */
export const answerError = (error: string | undefined) =>
  error === undefined ? undefined : m.search.answerFailed(errorReason(error));
export const megabytes = (bytes: number) => m.common.megabytes(number(bytes / 1e6, 1, true));
export const joinList = (names: string[]) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${m.common.and} ${names.at(-1)}`;

/** The page's name for an id of the service, if it has one. */
export const lookupName = (names: Names, id: string): string | undefined =>
  Object.hasOwn(names, id) ? names[id] : undefined;
/** The page's name for an id, or the id itself in readable form. */
export const displayName = (names: Names, id: string) => lookupName(names, id) ?? capitalize(humanize(id));
/** Also accepts aggregators. */
export const analyzerName = (id: string) => lookupName(m.analyzers, id) ?? displayName(m.aggregators, id);
export const stageName = (stage: string) => displayName(m.jobs.stages, stage);

/** A link to a video, optionally to a time range in it. */
export const videoLink = (id: string, seconds?: number, until?: number) =>
  link("videos", { t: seconds && Number(seconds.toFixed(2)), until: until && Number(until.toFixed(2)) }, id);

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

export type TextPart = { text: string; hit: boolean };

/** Splits a text at the matches of `pattern`, which must have exactly one group. */
const split = (text: string, pattern: RegExp): TextPart[] =>
  text
    .split(pattern)
    .map((part, index) => ({ text: part, hit: index % 2 === 1 }))
    .filter((part) => part.text);

/** Stop words, which are not highlighted. */
const STOP_WORDS = new Set(
  "a an and are as at be by does for from has have how in is it its of on or that the there this to was what when where which who why with".split(
    " ",
  ),
);

/** Splits a text and marks query words, in singular or plural, and quoted phrases. */
export function highlightQuery(text: string, query: string): TextPart[] {
  const phrases = [...query.matchAll(/"([^"]+)"/g)].map(([, phrase = ""]) => tokenize(phrase));
  const words = tokenize(query.replace(/"[^"]+"/g, " ")).filter((word) => !STOP_WORDS.has(word));
  const stems = words.map((word) => (word.length > 3 ? word.replace(/(?<!s)s$/, "") : word));
  const patterns = [
    ...phrases.filter(({ length }) => length).map((phrase) => phrase.join("[^\\p{L}\\p{N}]+")),
    ...stems.map((stem) => `${stem}(?:e?s)?`),
  ];
  if (!patterns.length) return [{ text, hit: false }];
  return split(text, new RegExp(`(?<![\\p{L}\\p{N}])(${patterns.join("|")})(?![\\p{L}\\p{N}])`, "giu"));
}
const tokenize = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Splits a text and marks occurrences of `query`. */
export function highlightText(text: string, patterns: string): TextPart[] {
  const escaped = patterns.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return escaped ? split(text, new RegExp(`(${escaped})`, "giu")) : [{ text, hit: false }];
}
