// What the command field offers for a typed text.
import { m } from "../../i18n/language.svelte";
import { link, pageTitle, type Page } from "../../state/address.svelte";

export type Group = "pages" | "moments" | "videos" | "bins" | "speakers";
export const GROUPS: Group[] = ["pages", "moments", "videos", "bins", "speakers"];
/** `hint` is shown next to the text. */
export type Option = { group: Group; text: string; hint?: string; href: string };

const PAGES: Page[] = [
  "",
  "search",
  "ask",
  "persons",
  "bins",
  "jobs",
  "alerts",
  "activity",
  "shares",
  "settings",
];

/** The options whose text contains what is typed, those that start with it first. */
export function rank(options: Option[], typed: string): Option[] {
  const query = typed.trim().toLowerCase();
  const at = ({ text }: Option) => text.toLowerCase().indexOf(query);
  const later = (option: Option) => Number(at(option) > 0);
  return options.filter((one) => at(one) >= 0).toSorted((a, b) => later(a) - later(b));
}

/** Options that need no request: pages, and searching for the text. */
export function localOptions(typed: string): Option[] {
  const q = typed.trim();
  const pages = PAGES.map<Option>((page) => ({ group: "pages", text: pageTitle(page), href: link(page) }));
  if (!q) return pages;
  return [
    ...rank(pages, q),
    { group: "moments", text: m.command.searchFor(q), href: link("search", { q }) },
    { group: "moments", text: m.command.ask(q), href: link("ask", { q }) },
  ];
}
