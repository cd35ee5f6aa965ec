// The page's language. Every text of the page is in a catalogue, one per language, and is
// read through `m`, so that the page updates when the language changes. English is bundled; other languages
// load on demand.
import { formatNumber } from "./counting";
import { en, type Messages } from "./en";
import { savePreference, loadPreference } from "../browser/preferences";

export const LANGUAGES = { en: "English", de: "Deutsch" };
export type Language = keyof typeof LANGUAGES;

const LOADERS: Record<Exclude<Language, "en">, () => Promise<Messages>> = {
  de: () => import("./de").then(({ de }) => de),
};

let messages = $state.raw<Messages>(en);
/** `chosen` is empty to match the browser; `shown` is the current language. */
export const language = $state<{ chosen: Language | ""; shown: Language }>({ chosen: "", shown: "en" });

/** The texts of the page in the current language. */
export const m: Messages = new Proxy(en, {
  get: (_, section) => Reflect.get(messages, section) as unknown,
});

const isLanguage = (name: string): name is Language => Object.hasOwn(LANGUAGES, name);
/** The browser's preferred language that has a catalogue. */
export function browserLanguage(languages: readonly string[] = navigator.languages): Language {
  return languages.map((one) => one.slice(0, 2).toLowerCase()).find(isLanguage) ?? "en";
}

/** Applies the saved language, or that of the browser. */
export async function startLanguage() {
  const stored = loadPreference<string>("language", "");
  await applyLanguage(isLanguage(stored) ? stored : "");
}

/** Saves and applies a language; an empty string matches the browser. */
export async function chooseLanguage(chosen: Language | "") {
  savePreference("language", chosen);
  await applyLanguage(chosen);
}

async function applyLanguage(chosen: Language | "") {
  language.chosen = chosen;
  const languages = chosen || browserLanguage();
  // If the catalogue fails to load, the language stays.
  const loaded = languages === "en" ? en : await LOADERS[languages]().catch(() => null);
  if (!loaded || language.chosen !== chosen) return;
  messages = loaded;
  language.shown = languages;
  document.documentElement.lang = languages;
}

/** The locale for dates: the browser's regional variant of the page's language, if any. */
function locale(): string {
  const own = typeof navigator === "undefined" ? [] : navigator.languages;
  return own.find((one) => one.slice(0, 2).toLowerCase() === language.shown) ?? language.shown;
}

/**
 * Formats a number in the current language, with at most `digits` decimals, or exactly that many if
 * `exact`.
 */
export const number = (value: number, digits = 0, exact = false) =>
  formatNumber(language.shown, value, digits, exact);

/** Formats a date and time. */
export const date = (iso: string) => new Date(iso).toLocaleString(locale());
