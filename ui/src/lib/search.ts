// What a search asks of the service, made from what the address says.
import type { Place } from "./address.svelte";
import { analyzerName, joinList, displayName, humanize } from "./format";
import { m } from "./language.svelte";
import type { Hit, Schema, Span } from "./types";

export type SearchParams = Pick<
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
type Filters = SearchParams["filters"];

/** In place of an analyzer: all of them. */
export const EVERYTHING = "*";
/** Moments that are shown at a time, as by default and at most. */
export const DEFAULT_LIMIT = 12;
export const MAX_LIMIT = 50;

/** Filters that other choices of the page stand for, or that nobody has a name for. */
const HIDDEN_FILTERS = ["video_ids", "analyzer_ids", "chunk_ids", "chunk_config"];

/** The part of what the address says that is about a search. */
export function searchParams(place: Place): SearchParams {
  const { q, like, video, analyzer, field, mode, limit, alike, sure, group, answer, every, filters } = place;
  return { q, like, video, analyzer, field, mode, limit, alike, sure, group, answer, every, filters };
}

/** Whether anything is searched for or chosen. */
export const hasCriteria = ({ q, like, video, analyzer, filters }: SearchParams) =>
  Boolean(q.trim() || like || video.length || analyzer || Object.keys(filters).length);

/** Seconds by which a range is narrowed: a moment that only touches it shares no time with it. */
const EPSILON = 0.001;

/** The filters that leave the moments that share any time with a part of a video. */
export const overlapFilters = ({ start, end }: Span): Filters => ({
  ends_after: [(start + EPSILON).toFixed(3)],
  starts_before: [(end - EPSILON).toFixed(3)],
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
export function searchRequest(search: SearchParams, schema: Schema | null) {
  const { like, video, analyzer, field, mode, limit, alike, sure, answer, every, filters } = search;
  const text = searchText(search.q);
  const scope = {
    video_ids: video.length ? video : null,
    analyzer: analyzer || EVERYTHING,
    field: field || "combined",
    limit: Math.min(MAX_LIMIT, Math.max(1, limit ?? DEFAULT_LIMIT)),
    synthesize: Boolean(text) && answer,
    filters: typedFilters(filters, schema, every),
    pages: true,
  };
  if (text) {
    const ranked = { score_threshold: alike, min_p_present: sure, rerank: true, ...modeFor(text, mode) };
    return { text, ...scope, ...ranked };
  }
  return like ? { like, ...scope, score_threshold: alike } : { order: "newest", ...scope };
}

/** The filters that have a value, as the types that the service names. */
export function typedFilters(
  filters: Filters,
  schema: Schema | null,
  every: string[] = [],
): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(filters)) {
    const type = schema?.filters[name]?.type;
    const trimmed = values.map((value) => value.trim()).filter(Boolean);
    const [first] = trimmed;
    if (type === undefined || first === undefined) continue;
    if (type === "list[str]")
      all[name] = every.includes(name) && trimmed.length > 1 ? { all: trimmed } : trimmed;
    else if (type === "list[int]") all[name] = trimmed.map(Number);
    else if (type === "str") all[name] = first;
    else if (type === "dict") all[name] = metadata(trimmed, schema?.metadata_keys ?? {});
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
export function availableFilters(schema: Schema | null, analyzer: string, present?: Set<string>): string[] {
  return Object.keys(schema?.filters ?? {}).filter((name) => {
    if (HIDDEN_FILTERS.includes(name)) return false;
    const analyzers = schema?.filter_analyzers[name];
    if (!analyzers) return true;
    if (analyzer && analyzer !== EVERYTHING) return analyzers.includes(analyzer);
    return analyzers.some((id) => !present || present.has(id));
  });
}

/** Moments that follow each other and are halves of one sentence, as one that holds all of it. */
export function mergeSplitSentences(hits: Hit[]): Hit[] {
  const all: Hit[] = [];
  for (const hit of hits) {
    const place = all.findIndex((one) => isSplitSentence(one, hit) || isSplitSentence(hit, one));
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
function isSplitSentence(first: Hit, second: Hit): boolean {
  const [begun, ended] = [first.turns?.at(-1)?.text, second.turns?.[0]?.text];
  return (
    first.video_id === second.video_id &&
    Math.abs(first.end - second.start) < 0.01 &&
    first.description === second.description &&
    Boolean(begun && ended && first.description?.includes(`${begun} ${ended}`))
  );
}

export const filterName = (name: string) => displayName(m.filters.names, name);

/** What filters leave, each in a few words. */
export const describeFilters = (filters: Filters) =>
  Object.entries(filters).map(([name, all]) => `${filterName(name)}: ${all.join(", ")}`);

/** Why filters that were asked for, by a link say, cannot let anything through. */
export function unsatisfiableFilters(
  filters: Filters,
  analyzer: string,
  schema: Schema | null,
  present?: Set<string>,
): string[] {
  const reasons: string[] = [];
  const satisfiable: [name: string, analyzers: string[]][] = [];
  const names = (ids: string[]) => joinList(ids.map((id) => m.common.quoted(analyzerName(id))));
  for (const name of Object.keys(filters)) {
    if (!schema) continue;
    const analyzers = schema.filter_analyzers[name];
    if (!(name in schema.filters)) reasons.push(m.filters.unknown(humanize(name)));
    else if (analyzers && !analyzers.length) reasons.push(m.filters.unsupported(filterName(name)));
    else if (analyzers && analyzer && analyzer !== EVERYTHING && !analyzers.includes(analyzer)) {
      reasons.push(m.filters.elsewhere(filterName(name), names(analyzers)));
    } else if (analyzers && present && !analyzers.some((id) => present.has(id))) {
      reasons.push(m.filters.notAnalysed(filterName(name), names(analyzers)));
    } else if (analyzers) satisfiable.push([name, analyzers]);
  }
  const shared = satisfiable.reduce<string[] | null>(
    (left, [, analyzers]) => (left ? left.filter((id) => analyzers.includes(id)) : analyzers),
    null,
  );
  if (!reasons.length && shared && !shared.length) {
    const both = joinList(satisfiable.map(([name]) => m.common.quoted(filterName(name))));
    reasons.push(m.filters.apart(both));
  }
  return reasons;
}

/** Hits in groups; only those by video have a video of their own. */
export function groupHits(hits: Hit[], order: string): { video: string; hits: Hit[] }[] {
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
