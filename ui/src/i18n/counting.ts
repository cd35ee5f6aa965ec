// Locale-aware number formatting and counted nouns for the catalogues. A browser takes milliseconds to
// create a formatter, so each one is created on first use and cached.

/** Formats a count with its noun; every language here has exactly these two plural forms. */
export type Counter = (count: number, one: string, other: string) => string;

const numberFormats = new Map<string, Intl.NumberFormat>();
const pluralRules = new Map<string, Intl.PluralRules>();

function cached<T>(cache: Map<string, T>, key: string, create: () => T): T {
  const value = cache.get(key) ?? create();
  cache.set(key, value);
  return value;
}

/** Formats a number with at most `digits` decimals, or exactly that many if `exact`. */
export function formatNumber(language: string, value: number, digits = 0, exact = false): string {
  const minDigits = exact ? digits : 0;
  const create = () =>
    new Intl.NumberFormat(language, { maximumFractionDigits: digits, minimumFractionDigits: minDigits });
  return cached(numberFormats, `${language} ${digits} ${minDigits}`, create).format(value);
}

export function counter(language: string): Counter {
  const rules = () => cached(pluralRules, language, () => new Intl.PluralRules(language));
  return (count, one, other) =>
    `${formatNumber(language, count)} ${rules().select(count) === "one" ? one : other}`;
}
