// Numbers as a language writes them, and counts in words, for the catalogues. What writes them takes a browser
// milliseconds to make, so each is made once, when it is first wanted.

/** Forms of what is counted; of the languages that are here, each has these two. */
export type Count = (count: number, one: string, other: string) => string;

const writers = new Map<string, Intl.NumberFormat>();
const rules = new Map<string, Intl.PluralRules>();

function made<T>(all: Map<string, T>, name: string, make: () => T): T {
  const known = all.get(name) ?? make();
  all.set(name, known);
  return known;
}

/** A number with at most, or exactly, so many places. */
export function written(language: string, value: number, places = 0, exactly = false): string {
  const least = exactly ? places : 0;
  const make = () =>
    new Intl.NumberFormat(language, { maximumFractionDigits: places, minimumFractionDigits: least });
  return made(writers, `${language} ${places} ${least}`, make).format(value);
}

export function counting(language: string): Count {
  const rule = () => made(rules, language, () => new Intl.PluralRules(language));
  return (count, one, other) => `${written(language, count)} ${rule().select(count) === "one" ? one : other}`;
}
