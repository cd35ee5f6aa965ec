// Routing: the current page and its parameters, as stored in the address. The fragment is used so that the
// service needs no routes for pages and links work below any path. Pages read `address` and change it with
// `navigate` (new history entry) or `updateAddress` (replaces the entry).

import { untrack } from "svelte";
import { m } from "../i18n/language.svelte";
import { enterHistory, followScroll } from "../browser/scroll";
import type { Span } from "../api/types";

/** Codec of an address parameter; defaults are omitted. */
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
/** Parses a span such as `12.5-20`, in seconds. */
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

/** All address parameters. */
const PARAMETERS = {
  /** Playback position, in seconds. */
  t: number,
  /** Where playback stops, in seconds. */
  until: number,
  range,
  /** Search results in the video. */
  hit: spans,
  tab: text,
  /** Query or question. */
  q: text,
  /** Id of the moment to find similar ones of. */
  like: text,
  /** The picture to search for, as in `api/pictures.ts`. */
  picture: text,
  /** The part of the picture to search for: left, top, width and height as fractions (0..1). */
  region: text,
  /** Ids of the videos to search; empty means all. */
  video: list,
  /** Ids of the videos that are not searched. */
  without: list,
  analyzer: text,
  field: text,
  mode: text,
  limit: number,
  alike: number,
  sure: number,
  group: text,
  answer: flag,
  /** Filters that require all of their values. */
  every: list,
  /** Whether exact times are searched for instead of moments. */
  times: flag,
  /** The JSON of the expression that moments must overlap, as in `search/conditions/conditions.ts`. */
  where: text,
  /** Ids of the moments to ask about or to compare. */
  moment: list,
  /** Part of a file name, or of a person's name; the name of the person that a picture shows. */
  name: text,
  /** Name of the alert whose matches are listed. */
  alert: text,
  /** Whether only unread matches are listed. */
  unread: flag,
  /** The matches that are listed: `open`, `confirmed`, `false_alarm` or `all`; empty for all but false alarms. */
  verdict: text,
  collection: text,
  order: text,
  /** URL of a video to add. */
  url: text,
};
/** Prefix of filter parameters, which the service names. */
const FILTER = "filter.";

/** The pages by path, with the parameters of each. */
const PAGES = {
  "": ["name", "analyzer", "collection", "order", "url"],
  videos: ["t", "until", "range", "hit", "tab", "q"],
  search: [
    "q",
    "like",
    "picture",
    "region",
    "video",
    "without",
    "name",
    "analyzer",
    "field",
    "mode",
    "limit",
    "alike",
    "sure",
    "group",
    "answer",
    "every",
    "where",
    "times",
    "filters",
  ],
  ask: ["q", "video", "analyzer", "moment", "every", "where", "filters"],
  jobs: [],
  alerts: ["tab", "alert", "unread", "verdict"],
  bins: ["order"],
  compare: ["moment"],
  activity: [],
  persons: ["name", "collection"],
  shares: [],
  settings: [],
} as const;

type Parameters = typeof PARAMETERS;
type Values = { [P in keyof Parameters]: Parameters[P] extends ParamType<infer T> ? T : never } & {
  /** Values by filter. */
  filters: Record<string, string[]>;
};
export type Page = keyof typeof PAGES;
type ParamName<P extends Page> = (typeof PAGES)[P][number];
/** The parameters of a page. */
export type PageParams<P extends Page> = Partial<Pick<Values, ParamName<P>>>;
export type Place = { page: string; id: string } & Values;

const names = Object.keys(PARAMETERS) as (keyof Parameters)[];
export const isPage = (page: string): page is Page => Object.hasOwn(PAGES, page);
/** The title of a page, or an empty string if it does not exist. */
export const pageTitle = (page: string) => (isPage(page) ? m.pages[page] : "");

/** Parses the fragment of an address. */
export function parse(hash: string): Place {
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split("?");
  const [first = "", rest = ""] = path.split("/");
  // The path of older links.
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

/** An invalid encoding is used unchanged, and matches no id. */
function decodeId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Builds a link to a page; `id` is the video id. */
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

/** A link to a video, optionally to a time range in it. */
export const videoLink = (id: string, seconds?: number, until?: number) =>
  link("videos", { t: seconds && Number(seconds.toFixed(2)), until: until && Number(until.toFixed(2)) }, id);

/** The tab of an analyzer that has found nothing in a video. */
export const emptyTab = (analyzer: string) => `none-${analyzer}`;

export const address: Place = $state(parse(""));

/** Starts tracking the address. */
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

/** Navigates to a page with a new history entry; returns false if the address is already there. */
export function navigate<P extends Page>(page: P, params: PageParams<P> = {}, id = ""): boolean {
  const to = link(page, params, id);
  if (to === location.hash) return false;
  history.pushState(null, "", to);
  enterHistory();
  Object.assign(address, parse(to));
  return true;
}

/** Replaces parameters of the current page without a new history entry. */
export function updateAddress<P extends Page>(page: P, params: PageParams<P>) {
  if (untrack(() => address.page) !== page) return;
  const before = untrack(() => $state.snapshot(address)) as Place;
  const to = link(page, { ...before, ...params } as PageParams<P>, before.id);
  if (to === link(page, before as PageParams<P>, before.id)) return;
  history.replaceState(history.state, "", to);
  Object.assign(address, parse(to));
}
