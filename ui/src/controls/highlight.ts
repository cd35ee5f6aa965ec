// Splits texts at the matches of a query, for highlighting.

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
