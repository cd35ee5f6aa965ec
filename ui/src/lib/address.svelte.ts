// Where the reader is, as the address says it: the page, and on it all that a link should carry. The
// part after # is used, so that the service needs no route of its own for a page and a link works below
// any path. Pages read `address` and write it with `go` (a step back leads back) or `change` (it does not).

import { untrack } from "svelte";
import { m } from "./language.svelte";
import { enterHistory, followScroll } from "./scroll";
import type { Span } from "./types";

/** How a value stands in an address; what is as by default is left out. */
type Kind<T> = { none: T; read: (given: string[]) => T; write: (value: T) => string[] };

const text: Kind<string> = {
  none: "",
  read: ([first = ""]) => first,
  write: (value) => (value ? [value] : []),
};
const list: Kind<string[]> = {
  none: [],
  read: (given) => given.filter(Boolean),
  write: (value) => value,
};
const flag: Kind<boolean> = {
  none: false,
  read: ([first]) => first === "1",
  write: (value) => (value ? ["1"] : []),
};
const number: Kind<number | null> = {
  none: null,
  read: ([first = ""]) => (first.trim() && Number.isFinite(Number(first)) ? Number(first) : null),
  write: (value) => (value === null ? [] : [short(value)]),
};
/** `12.5-20`: seconds, the end after the beginning. */
function span(given: string): Span | null {
  const [, start, end] = given.match(/^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/) ?? [];
  return end !== undefined && Number(start) < Number(end) ? { start: Number(start), end: Number(end) } : null;
}
const written = ({ start, end }: Span) => `${short(start)}-${short(end)}`;
const range: Kind<Span | null> = {
  none: null,
  read: ([first = ""]) => span(first),
  write: (value) => (value ? [written(value)] : []),
};
const spans: Kind<Span[]> = {
  none: [],
  read: (given) => given.map(span).filter((one) => one !== null),
  write: (value) => value.map(written),
};
const short = (value: number) => String(Number(value.toFixed(3)));

/** What an address can say, on whichever page. */
const PARAMETERS = {
  /** Seconds into the video. */
  t: number,
  /** Where playing stops. */
  until: number,
  range,
  /** What was found in the video. */
  hit: spans,
  tab: text,
  /** What is searched or asked for. */
  q: text,
  /** The moment whose like is searched for, in place of words. */
  like: text,
  /** The videos that are looked in; none: all. */
  video: list,
  analyzer: text,
  field: text,
  mode: text,
  limit: number,
  alike: number,
  sure: number,
  group: text,
  answer: flag,
  /** The filters of which a moment must have every value, not any. */
  every: list,
  /** The moments that alone are asked about, or that are compared. */
  moment: list,
  /** Part of a name that is looked for. */
  name: text,
  collection: text,
  order: text,
  /** Where a video to be added comes from. */
  url: text,
};
/** Filters are named by the service: each is a parameter of its own, behind this. */
const FILTER = "filter.";

/** The pages, by the first part of their address, and what each says beyond. */
const PAGES = {
  "": ["name", "analyzer", "collection", "order", "url"],
  videos: ["t", "until", "range", "hit", "tab", "q"],
  search: [
    "q",
    "like",
    "video",
    "analyzer",
    "field",
    "mode",
    "limit",
    "alike",
    "sure",
    "group",
    "answer",
    "every",
    "filters",
  ],
  ask: ["q", "video", "analyzer", "moment", "every", "filters"],
  jobs: [],
  alerts: [],
  compare: ["moment"],
  settings: [],
} as const;

type Parameters = typeof PARAMETERS;
type Values = { [P in keyof Parameters]: Parameters[P] extends Kind<infer T> ? T : never } & {
  /** The values of each filter that is set. */
  filters: Record<string, string[]>;
};
export type Page = keyof typeof PAGES;
type Said<P extends Page> = (typeof PAGES)[P][number];
/** What the address of a page can say. */
export type Of<P extends Page> = Partial<Pick<Values, Said<P>>>;
export type Place = { page: string; id: string } & Values;

const names = Object.keys(PARAMETERS) as (keyof Parameters)[];
export const isPage = (page: string): page is Page => Object.hasOwn(PAGES, page);
/** What a page is called; nothing where there is no such page. */
export const pageTitle = (page: string) => (isPage(page) ? m.pages[page] : "");

/** Reads the part of an address after its #. */
export function parse(hash: string): Place {
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split("?");
  const [first = "", rest = ""] = path.split("/");
  // A link to a video was once written so.
  const page = first === "video" ? "videos" : first;
  const given = new URLSearchParams(query);
  const says: readonly string[] = isPage(page) ? PAGES[page] : [];
  const read = <P extends keyof Parameters>(name: P) =>
    says.includes(name) ? PARAMETERS[name].read(given.getAll(name)) : PARAMETERS[name].none;
  const values = Object.fromEntries(names.map((name) => [name, read(name)]));
  const filters: Record<string, string[]> = {};
  for (const [name, value] of says.includes("filters") ? given : []) {
    if (name.startsWith(FILTER) && value) (filters[name.slice(FILTER.length)] ??= []).push(value);
  }
  return { page, id: decoded(rest), ...(values as Omit<Values, "filters">), filters };
}

/** What does not read back is taken as it stands: nothing has that id. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** The address of a page, for a link; `id` is that of the video. */
export function link<P extends Page>(page: P, says: Of<P> = {}, id = ""): string {
  const given = new URLSearchParams();
  const values: Partial<Values> = says;
  for (const name of PAGES[page]) {
    if (name === "filters") {
      for (const [filter, all] of Object.entries(values.filters ?? {})) {
        for (const one of all) given.append(FILTER + filter, one);
      }
      continue;
    }
    const value = values[name as keyof Parameters];
    if (value === undefined) continue;
    const { write } = PARAMETERS[name as keyof Parameters] as Kind<unknown>;
    for (const one of write(value)) given.append(name, one);
  }
  const query = given.size ? `?${given}` : "";
  return `#/${page}${id ? `/${encodeURIComponent(id)}` : ""}${query}`;
}

export const address: Place = $state(parse(""));

/** Follows the address from now on. */
export function followAddress() {
  const read = () => {
    Object.assign(address, parse(location.hash));
    enterHistory();
  };
  read();
  followScroll();
  addEventListener("hashchange", read);
  addEventListener("popstate", read);
}

/** Goes to a page; the step back leads here. False where that is where the reader is. */
export function go<P extends Page>(page: P, says: Of<P> = {}, id = ""): boolean {
  const to = link(page, says, id);
  if (to === location.hash) return false;
  history.pushState(null, "", to);
  enterHistory();
  Object.assign(address, parse(to));
  return true;
}

/** Has the address say something else of the page that is shown; no step back leads to what it said. */
export function change<P extends Page>(page: P, says: Of<P>) {
  if (untrack(() => address.page) !== page) return;
  const before = untrack(() => $state.snapshot(address)) as Place;
  const to = link(page, { ...before, ...says } as Of<P>, before.id);
  if (to === link(page, before as Of<P>, before.id)) return;
  history.replaceState(history.state, "", to);
  Object.assign(address, parse(to));
}
