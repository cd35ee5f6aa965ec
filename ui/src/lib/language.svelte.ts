// The language of the page: every text that is the page's own stands in a catalogue of `../words`, one per
// language, and is read through `m`, so that what is shown changes with the language. English is always
// there; another language is loaded when it is wanted.
import { formatNumber } from "../words/counting";
import { en, type Messages } from "../words/en";
import { savePreference, loadPreference } from "./preferences";

export const LANGUAGES = { en: "English", de: "Deutsch" };
export type Language = keyof typeof LANGUAGES;

const LOADERS: Record<Exclude<Language, "en">, () => Promise<Messages>> = {
  de: () => import("../words/de").then(({ de }) => de),
};

let messages = $state.raw<Messages>(en);
/** `chosen` is empty where the browser's language holds; `shown` is what the page is in. */
export const language = $state<{ chosen: Language | ""; shown: Language }>({ chosen: "", shown: "en" });

/** The texts of the page, in the language that it is shown in. */
export const m: Messages = new Proxy(en, {
  get: (_, section) => Reflect.get(messages, section) as unknown,
});

const isLanguage = (name: string): name is Language => Object.hasOwn(LANGUAGES, name);
/** What the browser is set to, as far as there is a catalogue for it. */
export function browserLanguage(languages: readonly string[] = navigator.languages): Language {
  return languages.map((one) => one.slice(0, 2).toLowerCase()).find(isLanguage) ?? "en";
}

/** Shows the page in the language that was chosen, or that of the browser. */
export async function startLanguage() {
  const before = loadPreference<string>("language", "");
  await applyLanguage(isLanguage(before) ? before : "");
}

/** Chooses a language for this browser; nothing: the browser's own. */
export async function chooseLanguage(chosen: Language | "") {
  savePreference("language", chosen);
  await applyLanguage(chosen);
}

async function applyLanguage(chosen: Language | "") {
  language.chosen = chosen;
  const languages = chosen || browserLanguage();
  // A catalogue that cannot be loaded leaves the page as it is.
  const loaded = languages === "en" ? en : await LOADERS[languages]().catch(() => null);
  if (!loaded || language.chosen !== chosen) return;
  messages = loaded;
  language.shown = languages;
  document.documentElement.lang = languages;
}

/** As numbers and times are written: where the reader is, if that is known, in the language of the page. */
function locale(): string {
  const own = typeof navigator === "undefined" ? [] : navigator.languages;
  return own.find((one) => one.slice(0, 2).toLowerCase() === language.shown) ?? language.shown;
}

/** Formats a number in the current language, with at most `digits` decimals, or exactly that many if `exact`. */
export const number = (value: number, digits = 0, exact = false) =>
  formatNumber(language.shown, value, digits, exact);

/** A day with its time. */
export const date = (iso: string) => new Date(iso).toLocaleString(locale());
