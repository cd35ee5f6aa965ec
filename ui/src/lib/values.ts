// The values that filters can take, as the service counts them.
import type { Choice } from "./picker";
import { api } from "./api";
import { m } from "./language.svelte";
import { typed } from "./search";
import type { Schema } from "./types";

/** What is looked in, while values are chosen for one of its filters. */
export type Looked = { video: string[]; analyzer: string; filters: Record<string, string[]> };

type Listed = { values: { value: string; moments?: number; videos?: number }[] };

const AT_MOST = "50";

/** Filters of whole videos: what is said of videos is counted among those that the others leave. */
const OF_VIDEOS = ["collections", "metadata", "recorded_after", "recorded_before"];
const isOfVideos = (field: string) => OF_VIDEOS.includes(field.split(".")[0] ?? "");

/** The query of `GET /values` for a filter, among what all the others leave. */
export function valuesOf(
  field: string,
  prefix: string,
  looked: Looked,
  schema: Schema | null,
): URLSearchParams {
  const [own = field] = field.split(".");
  const others = Object.entries(looked.filters).filter(
    ([name]) => name !== own && (!isOfVideos(field) || OF_VIDEOS.includes(name)),
  );
  const filters = typed(Object.fromEntries(others), schema);
  const query = new URLSearchParams({ field, limit: AT_MOST });
  if (prefix) query.set("prefix", prefix);
  if (looked.video.length) query.set("video_ids", looked.video.join(","));
  if (looked.analyzer && !isOfVideos(field)) query.set("analyzer", looked.analyzer);
  if (Object.keys(filters).length) query.set("filters", JSON.stringify(filters));
  return query;
}

export async function choices(query: URLSearchParams, signal?: AbortSignal): Promise<Choice[]> {
  const { values } = await api<Listed>(`values?${query}`, { signal });
  return values.map(({ value, moments, videos }) => ({
    value,
    count: videos === undefined ? m.count.moments(moments ?? 0) : m.count.videos(videos),
  }));
}
