// Suggested filter values with their counts.
import type { Choice } from "../controls/picker";
import { api } from "../api/client";
import { m } from "../i18n/language.svelte";
import { isVideoFilter, typedFilters } from "./search";
import type { Schema } from "../api/types";

/** The search scope in which values are suggested. */
export type ValueScope = { video: string[]; analyzer: string; filters: Record<string, string[]> };

type ValuesResponse = { values: { value: string; moments?: number; videos?: number }[] };

const MAX_VALUES = "50";

/** The query of `GET /values` for one filter, narrowed by the others; only filters on videos narrow each other. */
export function valuesQuery(
  field: string,
  prefix: string,
  scope: ValueScope,
  schema: Schema | null,
): URLSearchParams {
  const [own = field] = field.split(".");
  const others = Object.entries(scope.filters).filter(
    ([name]) => name !== own && (!isVideoFilter(field) || isVideoFilter(name)),
  );
  const filters = typedFilters(Object.fromEntries(others), schema);
  const query = new URLSearchParams({ field, limit: MAX_VALUES });
  if (prefix) query.set("prefix", prefix);
  if (scope.video.length) query.set("video_ids", scope.video.join(","));
  if (scope.analyzer && !isVideoFilter(field)) query.set("analyzer", scope.analyzer);
  if (Object.keys(filters).length) query.set("filters", JSON.stringify(filters));
  return query;
}

export async function loadChoices(query: URLSearchParams, signal?: AbortSignal): Promise<Choice[]> {
  const { values } = await api<ValuesResponse>(`values?${query}`, { signal });
  return values.map(({ value, moments, videos }) => ({
    value,
    count: videos === undefined ? m.count.moments(moments ?? 0) : m.count.videos(videos),
  }));
}
