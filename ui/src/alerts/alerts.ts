// Alerts: saved searches that run on each new video.
import {
  EVERYTHING,
  MAX_LIMIT,
  modeFor,
  searchRequest,
  searchText,
  typedFilters,
  type SearchParams,
} from "../search/search";
import type { Alert, AlertMatch, Schema } from "../api/types";

/** Default minimum confidence: more likely than not. */
export const LIKELY = 0.5;

export const alertPath = (name: string) => `alerts/${encodeURIComponent(name)}`;

/** Length at which the service cuts the text of a match, in characters. */
const SNIPPET = 180;

/** The text of a match, which does not end within a word. */
export const matchText = ({ snippet }: Pick<AlertMatch, "snippet">) =>
  [...snippet].length < SNIPPET ? snippet : snippet.replace(/\s+\S*$/, "…");

/** Derives a valid alert name from the query. */
export const suggestName = (text: string) =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replace(/^-|-$/g, "");

/** Whether an alert can search for this: a text, or filters and conditions alone. */
export const hasTarget = ({ q, like, picture, where, filters }: SearchParams) =>
  Boolean(q.trim()) || (!like && !picture && Boolean(where || Object.keys(filters).length));

/** The body of `PUT /alerts/{name}`; `webhook` is empty if there is none. */
export function alertRequest(
  search: SearchParams,
  schema: Schema | null,
  webhook: string,
  minConfidence: number,
) {
  const { q, analyzer, field, mode, alike, every, where, filters } = search;
  const text = searchText(q);
  return {
    text,
    analyzer: analyzer || EVERYTHING,
    field: field || "combined",
    ...(text ? modeFor(text, mode) : {}),
    filters: typedFilters(filters, schema, every, where),
    score_threshold: text ? alike : null,
    min_p_present: minConfidence,
    webhook: webhook || null,
  };
}

/**
 * The body of `PATCH /alerts/{name}`. The webhook is sent only if it has changed, because the service hides
 * a part of its URL.
 */
export function changeRequest(alert: Alert, name: string, request: ReturnType<typeof alertRequest>) {
  const { webhook, ...search } = request;
  const isChanged = webhook !== (alert.webhook ?? null);
  return {
    ...(name === alert.name ? {} : { name }),
    mode: null,
    ...search,
    ...(isChanged ? { webhook } : {}),
  };
}

/** The body of `POST /query` that finds what an alert would match, at any confidence. */
export function countRequest(search: SearchParams, schema: Schema | null) {
  const example = { like: "", picture: "", region: "" };
  const target = { ...search, ...example, video: [], limit: MAX_LIMIT, sure: null, answer: false };
  const body = searchRequest(target, schema);
  return { ...body, ...("text" in body ? { rerank: false } : {}), detail: "minimal" };
}

/** The search parameters equivalent to an alert. */
export function alertSearch(alert: Alert): SearchParams {
  const filters: SearchParams["filters"] = {};
  const every: string[] = [];
  const { where, ...others } = alert.filters as Record<string, unknown>;
  for (const [name, value] of Object.entries(others)) {
    const all = value && typeof value === "object" && "all" in value ? value.all : undefined;
    if (Array.isArray(all)) every.push(name);
    filters[name] = filterValues(all ?? value);
  }
  return {
    q: alert.text,
    like: "",
    picture: "",
    region: "",
    name: "",
    video: [],
    without: [],
    analyzer: alert.analyzer === EVERYTHING ? "" : alert.analyzer,
    field: alert.field === "combined" ? "" : alert.field,
    mode: alert.mode ?? "",
    limit: null,
    alike: alert.score_threshold,
    sure: alert.min_p_present || null,
    group: "",
    answer: false,
    every,
    times: false,
    where: where === undefined ? "" : JSON.stringify(where),
    filters,
  };
}

/** Filter values as in the address; metadata as `key=value`. */
function filterValues(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  if (!value || typeof value !== "object") return [String(value)];
  return Object.entries(value).flatMap(([key, all]) => filterValues(all).map((one) => `${key}=${one}`));
}
