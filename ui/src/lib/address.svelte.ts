// Where the reader is, as the address says it: the page, and on it all that a link should carry. The
// part after # is used, so that the service needs no route of its own for a page and a link works below
// any path. Pages read `address` and write it with `navigate` (a step back leads back) or `updateAddress` (it does not).

import { untrack } from "svelte";
import { m } from "./language.svelte";
import { enterHistory, followScroll } from "./scroll";
import type { Span } from "./types";

/** How a value stands in an address; what is as by default is left out. */
type ParamType<T> = { none: T; read: (rawValues: string[]) => T; write: (value: T) => string[] };

const text: ParamType<string> = {
  none: "",
  read: ([first = ""]) => first,
  write: (value) => (value ? [value] : []),
};
const list: ParamType<string[]> = {
  none: [],
  read: (rawValues) => rawValues.filter(Boolean),
  write: (value) => value,
};
const flag: ParamType<boolean> = {
  none: false,
  read: ([first]) => first === "1",
  write: (value) => (value ? ["1"] : []),
};
const number: ParamType<number | null> = {
  none: null,
  read: ([first = ""]) => (first.trim() && Number.isFinite(Number(first)) ? Number(first) : null),
  write: (value) => (value === null ? [] : [round(value)]),
};
/** `12.5-20`: seconds, the end after the beginning. */
function parseSpan(rawValues: string): Span | null {
  const [, start, end] = rawValues.match(/^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/) ?? [];
  return end !== undefined && Number(start) < Number(end) ? { start: Number(start), end: Number(end) } : null;
}
const formatSpan = ({ start, end }: Span) => `${round(start)}-${round(end)}`;
const range: ParamType<Span | null> = {
  none: null,
  read: ([first = ""]) => parseSpan(first),
  write: (value) => (value ? [formatSpan(value)] : []),
};
const spans: ParamType<Span[]> = {
  none: [],
  read: (rawValues) => rawValues.map(parseSpan).filter((one) => one !== null),
  write: (value) => value.map(formatSpan),
};
const round = (value: number) => String(Number(value.toFixed(3)));

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
type Values = { [P in keyof Parameters]: Parameters[P] extends ParamType<infer T> ? T : never } & {
  /** The values of each filter that is set. */
  filters: Record<string, string[]>;
};
export type Page = keyof typeof PAGES;
type ParamName<P extends Page> = (typeof PAGES)[P][number];
/** What the address of a page can say. */
export type PageParams<P extends Page> = Partial<Pick<Values, ParamName<P>>>;
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
  const rawValues = new URLSearchParams(query);
  const params: readonly string[] = isPage(page) ? PAGES[page] : [];
  const read = <P extends keyof Parameters>(name: P) =>
    params.includes(name) ? PARAMETERS[name].read(rawValues.getAll(name)) : PARAMETERS[name].none;
  const values = Object.fromEntries(names.map((name) => [name, read(name)]));
  const filters: Record<string, string[]> = {};
  for (const [name, value] of params.includes("filters") ? rawValues : []) {
    if (name.startsWith(FILTER) && value) (filters[name.slice(FILTER.length)] ??= []).push(value);
  }
  return { page, id: decodeId(rest), ...(values as Omit<Values, "filters">), filters };
}

/** What does not read back is taken as it stands: nothing has that id. */
function decodeId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** The address of a page, for a link; `id` is that of the video. */
export function link<P extends Page>(page: P, params: PageParams<P> = {}, id = ""): string {
  const rawValues = new URLSearchParams();
  const values: Partial<Values> = params;
  for (const name of PAGES[page]) {
    if (name === "filters") {
      for (const [filter, all] of Object.entries(values.filters ?? {})) {
        for (const one of all) rawValues.append(FILTER + filter, one);
      }
      continue;
    }
    const value = values[name as keyof Parameters];
    if (value === undefined) continue;
    const { write } = PARAMETERS[name as keyof Parameters] as ParamType<unknown>;
    for (const one of write(value)) rawValues.append(name, one);
  }
  const query = rawValues.size ? `?${rawValues}` : "";
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
export function navigate<P extends Page>(page: P, params: PageParams<P> = {}, id = ""): boolean {
  const to = link(page, params, id);
  if (to === location.hash) return false;
  history.pushState(null, "", to);
  enterHistory();
  Object.assign(address, parse(to));
  return true;
}

/** Has the address say something else of the page that is shown; no step back leads to what it said. */
export function updateAddress<P extends Page>(page: P, params: PageParams<P>) {
  if (untrack(() => address.page) !== page) return;
  const before = untrack(() => $state.snapshot(address)) as Place;
  const to = link(page, { ...before, ...params } as PageParams<P>, before.id);
  if (to === link(page, before as PageParams<P>, before.id)) return;
  history.replaceState(history.state, "", to);
  Object.assign(address, parse(to));
}
