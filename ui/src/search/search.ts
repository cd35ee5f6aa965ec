// Builds search requests from the address.
import { parseRegion, VISUAL } from "../api/pictures";
import type { Place } from "../state/address.svelte";
import { analyzerName, displayName, exactClock, humanize, joinList, parseClock } from "../i18n/format";
import { m } from "../i18n/language.svelte";
import type { Hit, Schema, Span } from "../api/types";
import { describeWhere, whereExpression } from "./conditions/conditions";

export type SearchParams = Pick<
  Place,
  | "q"
  | "like"
  | "picture"
  | "region"
  | "video"
  | "without"
  | "name"
  | "analyzer"
  | "field"
  | "mode"
  | "limit"
  | "alike"
  | "sure"
  | "group"
  | "answer"
  | "every"
  | "where"
  | "times"
  | "filters"
>;
type Filters = SearchParams["filters"];

/** Stands for all analyzers. */
export const EVERYTHING = "*";
/** Default and maximum page size. */
export const DEFAULT_LIMIT = 12;
export const MAX_LIMIT = 50;

/** The filter for the moments of a bin. */
export const BIN_FILTER = "bin";

/** The filter for the videos of a collection. */
export const COLLECTION_FILTER = "collections";

/** Filters on videos; the others are on moments. */
const VIDEO_FILTERS = [COLLECTION_FILTER, "metadata", "recorded_after", "recorded_before"];
export const isVideoFilter = (field: string) => VIDEO_FILTERS.includes(field.split(".")[0] ?? "");

/** Filters whose number is a time in a video, in seconds. */
export const TIME_FILTERS = ["after", "before", "overlaps_after", "overlaps_before"];

/** Filters that the page offers in other ways or not at all. */
const HIDDEN_FILTERS = ["where", BIN_FILTER, "video_ids", "analyzer_ids", "chunk_ids", "chunk_config"];

/** The search parameters of an address. */
export function searchParams(place: Place): SearchParams {
  const { q, like, picture, region, name, video, without, analyzer, field, mode, limit, alike, sure } = place;
  const { group, answer, every, where, times, filters } = place;
  const target = { q, like, picture, region, name };
  const narrowing = { video, without, analyzer, every, where, filters };
  return { ...target, ...narrowing, field, mode, limit, alike, sure, group, answer, times };
}

/** Whether there is any text, moment, picture, video, analyzer, condition or filter to search by. */
export const hasCriteria = ({ q, like, picture, video, analyzer, where, filters }: SearchParams) =>
  Boolean(q.trim() || like || picture || video.length || analyzer || where || Object.keys(filters).length);

/** Filters that the search page shows as chips, although its fields are folded. */
export const CHIP_FILTERS = [BIN_FILTER, COLLECTION_FILTER];

/** Seconds by which a range is narrowed, to exclude moments that only touch it. */
const EPSILON = 0.001;

/** Filters for the moments that overlap a range. */
export const overlapFilters = ({ start, end }: Span): Filters => ({
  overlaps_after: [(start + EPSILON).toFixed(3)],
  overlaps_before: [(end - EPSILON).toFixed(3)],
});

/** Typographic quotation marks that may replace `"`. */
const QUOTES = /[\u201c\u201d\u201e\u201f\u00ab\u00bb]/g;
/** A quoted phrase. */
const PHRASE = /(?<![\p{L}\p{N}])"[^"]*[\p{L}\p{N}][^"]*"/u;

/** Normalises the typed query for the service. */
export const searchText = (typed: string) => typed.trim().replace(QUOTES, '"');

/** The search mode if none is chosen: only a text search matches quoted phrases exactly. */
export function modeFor(text: string, chosen: string): { mode?: string } {
  const mode = chosen || (PHRASE.test(text) ? "text" : "");
  return mode ? { mode } : {};
}

/** Parameters without an example, which a text replaces. Its field goes with it if that compares pictures. */
export function withoutExample<
  S extends Pick<SearchParams, "like" | "picture" | "region" | "name" | "without" | "field">,
>(search: S): S {
  const field = search.like && search.field === VISUAL ? "" : search.field;
  return { ...search, like: "", picture: "", region: "", name: "", without: [], field };
}

/**
 * The body of `POST /query`: a text query, a similarity query, or a listing by filters and conditions. That
 * of a picture lacks the picture, which is loaded separately.
 */
export function searchRequest(search: SearchParams, schema: Schema | null) {
  const { like, picture, video, analyzer, field, mode, limit, alike, sure, answer } = search;
  const { every, where, filters } = search;
  const text = searchText(search.q);
  const scope = {
    video_ids: video.length ? video : null,
    analyzer: analyzer || EVERYTHING,
    field: field || "combined",
    limit: Math.min(MAX_LIMIT, Math.max(1, limit ?? DEFAULT_LIMIT)),
    synthesize: Boolean(text) && answer,
    filters: typedFilters(filters, schema, every, where),
    pages: true,
  };
  if (text) {
    const ranked = { score_threshold: alike, min_p_present: sure, rerank: true, ...modeFor(text, mode) };
    return { text, ...scope, ...ranked };
  }
  if (picture) {
    const region = parseRegion(search.region);
    return { ...scope, field: VISUAL, ...(region ? { region } : {}), score_threshold: alike };
  }
  return like ? { like, ...scope, score_threshold: alike } : { order: "newest", ...scope };
}

/** Converts filters with a value to the types in the service's schema, and adds the conditions. */
export function typedFilters(
  filters: Filters,
  schema: Schema | null,
  every: string[] = [],
  where = "",
): Record<string, unknown> {
  const all: Record<string, unknown> = where ? { where: whereExpression(where) } : {};
  for (const [name, values] of Object.entries(filters)) {
    const type = schema?.filters[name]?.type;
    const trimmed = values.map((value) => value.trim()).filter(Boolean);
    const [first] = trimmed;
    if (type === undefined || first === undefined) continue;
    if (type === "list[str]")
      all[name] = every.includes(name) && trimmed.length > 1 ? { all: trimmed } : trimmed;
    else if (type === "list[int]") all[name] = trimmed.map(Number);
    else if (type === "str" || type === "bin") all[name] = first;
    else if (type === "dict") all[name] = metadata(trimmed, schema?.metadata_keys ?? {});
    else if (type !== "time") all[name] = Number(first);
    else if (!Number.isNaN(Date.parse(first))) all[name] = new Date(first).toISOString();
  }
  return all;
}

/** Converts pairs such as `camera=north` to typed values; several values of one key match any of them. */
function metadata(pairs: string[], keys: Record<string, string>): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const pair of pairs) {
    const [key = "", ...rest] = pair.split("=");
    const text = rest.join("=").trim();
    const type = keys[key.trim()];
    const value = type === "number" ? Number(text) : type === "boolean" ? text === "true" : text;
    const existing = all[key.trim()];
    all[key.trim()] = existing === undefined ? value : [existing, value].flat();
  }
  return all;
}

/** The filters that can match in the given scope; `present` holds the analyzers with output, if known. */
export function availableFilters(schema: Schema | null, analyzer: string, present?: Set<string>): string[] {
  return Object.keys(schema?.filters ?? {}).filter((name) => {
    if (HIDDEN_FILTERS.includes(name)) return false;
    const analyzers = schema?.filter_analyzers[name];
    if (!analyzers) return true;
    if (analyzer && analyzer !== EVERYTHING) return analyzers.includes(analyzer);
    return analyzers.some((id) => !present || present.has(id));
  });
}

/** Merges adjacent moments that are halves of one sentence. */
export function mergeSplitSentences(hits: Hit[]): Hit[] {
  const all: Hit[] = [];
  for (const hit of hits) {
    const place = all.findIndex((one) => isSplitSentence(one, hit) || isSplitSentence(hit, one));
    if (place < 0) all.push(hit);
    else {
      const [first, second] = [all[place], hit].sort((a, b) => a.start - b.start);
      const turns = [...(first.turns ?? []), ...(second.turns ?? [])];
      const found_by = [...new Set([...(all[place].found_by ?? []), ...(hit.found_by ?? [])])];
      // The merged moment has no id.
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

/** A value as it is shown; times, which the service takes in seconds, as minutes and seconds. */
export function filterValue(name: string, value: string): string {
  const seconds = TIME_FILTERS.includes(name) ? parseClock(value) : null;
  return seconds === null ? value : exactClock(seconds);
}

/** Short descriptions of filters. */
const describeFilters = (filters: Filters, binName: (id: string) => string) =>
  Object.entries(filters).map(([name, all]) =>
    name === BIN_FILTER
      ? m.bins.inBin(joinList(all.map(binName)))
      : `${filterName(name)}: ${all.map((value) => filterValue(name, value)).join(", ")}`,
  );

/** The conditions and filters of a search, in words. */
export const describeCriteria = (
  { where, filters }: Pick<SearchParams, "where" | "filters">,
  binName: (id: string) => string,
) => [...describeWhere(where), ...describeFilters(filters, binName)];

/** Reasons why requested filters, e.g. from a link, cannot match anything. */
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

/** Groups hits; `video` is empty unless grouped by video. */
export function groupHits(hits: Hit[], order: string): { video: string; hits: Hit[] }[] {
  if (order === "video") {
    const videos = [...new Set(hits.map(({ video_id }) => video_id))];
    return videos.map((video) => ({ video, hits: hits.filter(({ video_id }) => video_id === video) }));
  }
  if (order !== "time") return [{ video: "", hits }];
  // Hits without a recording time come last, by video.
  const when = (hit: Hit) => hit.recorded_at ?? `~${hit.video_id}`;
  const sorted = hits.toSorted((a, b) =>
    when(a) === when(b) ? a.start - b.start : when(a) < when(b) ? -1 : 1,
  );
  return [{ video: "", hits: sorted }];
}
