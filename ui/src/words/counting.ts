// Counts in words, for the catalogues: a number as the language writes it, and the form that goes with it.

/** Forms of what is counted; of the languages that are here, each has these two. */
export type Count = (count: number, one: string, other: string) => string;

export function counting(language: string): Count {
  const written = new Intl.NumberFormat(language);
  const rules = new Intl.PluralRules(language);
  return (count, one, other) => `${written.format(count)} ${rules.select(count) === "one" ? one : other}`;
}
