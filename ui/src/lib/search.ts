// What a search asks of the service, made from what the address says.
import type { Place } from "./address.svelte";
import { analyzerName, listed, named, words } from "./format";
import { m } from "./language.svelte";
import type { Hit, Schema, Span } from "./types";

export type Asked = Pick<
  Place,
  | "q"
  | "like"
  | "video"
  | "analyzer"
  | "field"
  | "mode"
  | "limit"
  | "alike"
  | "sure"
  | "group"
  | "answer"
  | "every"
  | "filters"
>;
type Filters = Asked["filters"];

/** In place of an analyzer: all of them. */
export const EVERYTHING = "*";
/** Moments that are shown at a time, as by default and at most. */
export const FEW = 12;
export const MOST = 50;

/** Filters that other choices of the page stand for, or that nobody has a name for. */
const ELSEWHERE = ["video_ids", "analyzer_ids", "chunk_ids", "chunk_config"];

/** The part of what the address says that is about a search. */
export function asked(place: Place): Asked {
  const { q, like, video, analyzer, field, mode, limit, alike, sure, group, answer, every, filters } = place;
  return { q, like, video, analyzer, field, mode, limit, alike, sure, group, answer, every, filters };
}

/** Whether anything is searched for or chosen. */
export const asks = ({ q, like, video, analyzer, filters }: Asked) =>
  Boolean(q.trim() || like || video.length || analyzer || Object.keys(filters).length);

/** Seconds by which a range is narrowed: a moment that only touches it shares no time with it. */
const TOUCHING = 0.001;

/** The filters that leave the moments that share any time with a part of a video. */
export const overlapping = ({ start, end }: Span): Filters => ({
  ends_after: [(start + TOUCHING).toFixed(3)],
  starts_before: [(end - TOUCHING).toFixed(3)],
});

/** What a browser or a keyboard may put in place of `"`. */
const QUOTES = /[\u201c\u201d\u201e\u201f\u00ab\u00bb]/g;
/** Words between quotation marks. */
const PHRASE = /(?<![\p{L}\p{N}])"[^"]*[\p{L}\p{N}][^"]*"/u;

/** The words that are searched for, as the service reads them. */
export const searchText = (typed: string) => typed.trim().replace(QUOTES, '"');

/** How they are searched for where the reader chooses no mode: only a search by words matches a phrase exactly. */
export function modeFor(text: string, chosen: string): { mode?: string } {
  const mode = chosen || (PHRASE.test(text) ? "text" : "");
  return mode ? { mode } : {};
}

/** The body of `POST /query`: words, what is like a moment, or all that the filters leave. */
export function request(search: Asked, schema: Schema | null) {
  const { like, video, analyzer, field, mode, limit, alike, sure, answer, every, filters } = search;
  const text = searchText(search.q);
  const scope = {
    video_ids: video.length ? video : null,
    analyzer: analyzer || EVERYTHING,
    field: field || "combined",
    limit: Math.min(MOST, Math.max(1, limit ?? FEW)),
    synthesize: Boolean(text) && answer,
    filters: typed(filters, schema, every),
    pages: true,
  };
  if (text) {
    const ranked = { score_threshold: alike, min_p_present: sure, rerank: true, ...modeFor(text, mode) };
    return { text, ...scope, ...ranked };
  }
  return like ? { like, ...scope, score_threshold: alike } : { order: "newest", ...scope };
}

/** The filters that have a value, as the types that the service names. */
export function typed(
  filters: Filters,
  schema: Schema | null,
  every: string[] = [],
): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(filters)) {
    const type = schema?.filters[name]?.type;
    const given = values.map((value) => value.trim()).filter(Boolean);
    const [first] = given;
    if (type === undefined || first === undefined) continue;
    if (type === "list[str]") all[name] = every.includes(name) && given.length > 1 ? { all: given } : given;
    else if (type === "list[int]") all[name] = given.map(Number);
    else if (type === "str") all[name] = first;
    else if (type === "dict") all[name] = metadata(given, schema?.metadata_keys ?? {});
    else if (type !== "time") all[name] = Number(first);
    else if (!Number.isNaN(Date.parse(first))) all[name] = new Date(first).toISOString();
  }
  return all;
}

/** `camera=north` as values of the types of the keys; several of one key are any of them. */
function metadata(pairs: string[], keys: Record<string, string>): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const pair of pairs) {
    const [key = "", ...rest] = pair.split("=");
    const text = rest.join("=").trim();
    const type = keys[key.trim()];
    const value = type === "number" ? Number(text) : type === "boolean" ? text === "true" : text;
    const before = all[key.trim()];
    all[key.trim()] = before === undefined ? value : [before, value].flat();
  }
  return all;
}

/** The filters that can keep anything of what is looked in; `present` is whose output there is, if known. */
export function offered(schema: Schema | null, analyzer: string, present?: Set<string>): string[] {
  return Object.keys(schema?.filters ?? {}).filter((name) => {
    if (ELSEWHERE.includes(name)) return false;
    const about = schema?.filter_analyzers[name];
    if (!about) return true;
    if (analyzer && analyzer !== EVERYTHING) return about.includes(analyzer);
    return about.some((id) => !present || present.has(id));
  });
}

/** Moments that follow each other and are halves of one sentence, as one that holds all of it. */
export function joined(hits: Hit[]): Hit[] {
  const all: Hit[] = [];
  for (const hit of hits) {
    const place = all.findIndex((one) => ofOneSentence(one, hit) || ofOneSentence(hit, one));
    if (place < 0) all.push(hit);
    else {
      const [first, second] = [all[place], hit].sort((a, b) => a.start - b.start);
      const turns = [...(first.turns ?? []), ...(second.turns ?? [])];
      const found_by = [...new Set([...(all[place].found_by ?? []), ...(hit.found_by ?? [])])];
      // The id of one half is not that of the whole.
      all[place] = {
        ...all[place],
        start: first.start,
        end: second.end,
        turns,
        found_by,
        moment_id: undefined,
      };
    }
  }
  return all;
}
function ofOneSentence(first: Hit, second: Hit): boolean {
  const [begun, ended] = [first.turns?.at(-1)?.text, second.turns?.[0]?.text];
  return (
    first.video_id === second.video_id &&
    Math.abs(first.end - second.start) < 0.01 &&
    first.description === second.description &&
    Boolean(begun && ended && first.description?.includes(`${begun} ${ended}`))
  );
}

export const filterName = (name: string) => named(m.filters.names, name);

/** What filters leave, each in a few words. */
export const narrowedBy = (filters: Filters) =>
  Object.entries(filters).map(([name, all]) => `${filterName(name)}: ${all.join(", ")}`);

/** Why filters that were asked for, by a link say, cannot let anything through. */
export function impossible(
  filters: Filters,
  analyzer: string,
  schema: Schema | null,
  present?: Set<string>,
): string[] {
  const reasons: string[] = [];
  const known: [name: string, about: string[]][] = [];
  const names = (ids: string[]) => listed(ids.map((id) => m.common.quoted(analyzerName(id))));
  for (const name of Object.keys(filters)) {
    if (!schema) continue;
    const about = schema.filter_analyzers[name];
    if (!(name in schema.filters)) reasons.push(m.filters.unknown(words(name)));
    else if (about && !about.length) reasons.push(m.filters.unsupported(filterName(name)));
    else if (about && analyzer && analyzer !== EVERYTHING && !about.includes(analyzer)) {
      reasons.push(m.filters.elsewhere(filterName(name), names(about)));
    } else if (about && present && !about.some((id) => present.has(id))) {
      reasons.push(m.filters.notAnalysed(filterName(name), names(about)));
    } else if (about) known.push([name, about]);
  }
  const shared = known.reduce<string[] | null>(
    (left, [, about]) => (left ? left.filter((id) => about.includes(id)) : about),
    null,
  );
  if (!reasons.length && shared && !shared.length) {
    const both = listed(known.map(([name]) => m.common.quoted(filterName(name))));
    reasons.push(m.filters.apart(both));
  }
  return reasons;
}

/** Hits in groups; only those by video have a video of their own. */
export function grouped(hits: Hit[], order: string): { video: string; hits: Hit[] }[] {
  if (order === "video") {
    const videos = [...new Set(hits.map(({ video_id }) => video_id))];
    return videos.map((video) => ({ video, hits: hits.filter(({ video_id }) => video_id === video) }));
  }
  if (order !== "time") return [{ video: "", hits }];
  // Who recorded when is known of some; the others follow, video by video.
  const when = (hit: Hit) => hit.recorded_at ?? `~${hit.video_id}`;
  const sorted = hits.toSorted((a, b) =>
    when(a) === when(b) ? a.start - b.start : when(a) < when(b) ? -1 : 1,
  );
  return [{ video: "", hits: sorted }];
}
