// Exact times: the spans of videos in which the conditions of a search hold, as `POST /intervals` finds them.
import { api } from "../../api/client";
import type { IntervalProof, Intervals, Schema, VideoIntervals } from "../../api/types";
import { exactClock } from "../../i18n/format";
import { m, number } from "../../i18n/language.svelte";
import { videoTitle, type Medium } from "../../state/app.svelte";
import { describeWhere, whereExpression } from "../conditions/conditions";
import { isVideoFilter, searchText, typedFilters, type SearchParams } from "../search";

/** Maximum number of times that are copied or downloaded. */
export const MAX_TIMES = 5000;
const PAGE = 100;

/** The pages that are loaded. `unknown` has the videos that were not analyzed, by analyzer; `more` are not listed. */
export type Times = Pick<Intervals, "unknown_videos" | "next" | "videos"> & {
  unknown: Record<string, { ids: string[]; more: number }>;
};

/** The expression of a search: all of its conditions, and its text, which is said or on screen. Null without any. */
export function timesExpression({ q, where }: Pick<SearchParams, "q" | "where">): unknown {
  const text = searchText(q);
  const all = [
    ...(where ? [whereExpression(where)] : []),
    ...(text ? [{ any: [{ says: text }, { reads: text }] }] : []),
  ];
  return all.length > 1 ? { all } : (all[0] ?? null);
}

/** The distinct words of a search, without punctuation around them. */
export const wordsOf = (q: string): string[] => [
  ...new Set(q.match(/[\p{L}\p{N}](\S*[\p{L}\p{N}])?/gu) ?? []),
];

/** What the expression means, in words. */
export function describeTimes({ q, where }: Pick<SearchParams, "q" | "where">): string {
  const said = q.trim() ? [m.times.said(q.trim())] : [];
  if (wordsOf(q).length > 1) said.push(m.times.phrase);
  return [said.join(", "), ...describeWhere(where)].filter(Boolean).join(" · ");
}

/** Conditions that need a picture, or sound. */
const CONDITIONS = { picture: /"(reads|sees|people|tag)":/, sound: /"(says|speaker)":/ };

/** Whether a search looks for what needs a picture, or sound. Its text is said or on screen. */
export const needs = ({ q, where }: Pick<SearchParams, "q" | "where">, medium: Medium): boolean =>
  q.trim() !== "" || CONDITIONS[medium].test(where);

/** The body of `POST /intervals`. Filters on moments do not apply. */
export function timesRequest(search: SearchParams, schema: Schema | null) {
  const filters = Object.fromEntries(Object.entries(search.filters).filter(([name]) => isVideoFilter(name)));
  return {
    expression: timesExpression(search),
    video_ids: search.video.length ? search.video : null,
    filters: typedFilters(filters, schema, search.every),
    limit: PAGE,
  };
}

export const countTimes = ({ videos }: Pick<Times, "videos">) =>
  videos.reduce((sum, { spans }) => sum + spans.length, 0);

/** Adds a page. The last video of a page may continue in the next one. */
export function withPage(found: Times | null, page: Intervals): Times {
  const videos = [...(found?.videos ?? [])];
  for (const video of page.videos) {
    const index = videos.findIndex(({ video_id }) => video_id === video.video_id);
    if (index < 0) videos.push(video);
    else videos[index] = { ...video, spans: [...videos[index].spans, ...video.spans] };
  }
  const unknown = { ...found?.unknown };
  for (const [analyzer, { videos, video_ids, parts }] of Object.entries(page.not_analyzed)) {
    const { ids, more } = unknown[analyzer] ?? { ids: [], more: 0 };
    const listed = [...ids, ...video_ids, ...parts.map(({ video_id }) => video_id)];
    unknown[analyzer] = { ids: [...new Set(listed)], more: more + videos - video_ids.length };
  }
  return { videos, unknown, unknown_videos: page.unknown_videos, next: page.next };
}

/** Loads further pages until there are `count` times, or no more. A page may be empty although others follow. */
export async function loadTimes(
  request: ReturnType<typeof timesRequest>,
  found: Times | null,
  count: number,
  signal?: AbortSignal,
): Promise<Times> {
  let all = found;
  while (!all || (all.next && countTimes(all) < count)) {
    const json = { ...request, cursor: all?.next ?? null };
    all = withPage(all, await api<Intervals>("intervals", { json, signal }));
  }
  return all;
}

/** What proves a span: each term, with the words, labels and numbers that show it. */
export function describeProof({ term, absent, moments, more }: IntervalProof): string {
  const [meaning = ""] = describeWhere(JSON.stringify(absent ? { not: term } : term));
  const shown = moments.map(({ text, label, speaker, count }) => text ?? label ?? speaker ?? count ?? "");
  const distinct = [...new Set(shown.map(String))].filter((one) => one && !meaning.includes(one));
  if (distinct.length && more) distinct.push(`+${more}`);
  return [meaning, distinct.join(", ")].filter(Boolean).join(": ");
}
export const describeProofs = (proofs: IntervalProof[]) => proofs.map(describeProof).join(" · ");

const seconds = (time: number) => String(Number(time.toFixed(3)));
/** The times as rows: video, start, end, length and proofs. */
const rows = (videos: VideoIntervals[], format: (time: number) => string): string[][] =>
  videos.flatMap(({ video_id, filename, spans }) =>
    spans.map(({ start, end, proofs }) => [
      videoTitle(video_id, filename),
      format(start),
      format(end),
      format(end - start),
      describeProofs(proofs),
    ]),
  );

/** A cell of a CSV file (RFC 4180). An apostrophe keeps spreadsheets from taking it for a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The times as CSV, in seconds. */
export function timesCsv(videos: VideoIntervals[]): string {
  const { video, start, end, length, proof } = m.times.columns;
  const head = [video, ...[start, end, length].map((name) => `${name} (s)`), proof];
  return [head, ...rows(videos, seconds)].map((row) => row.map(cell).join(",")).join("\r\n");
}

/** The times as lines with tabs. */
export const timesText = (videos: VideoIntervals[]) =>
  rows(videos, exactClock)
    .map((row) => row.join("\t"))
    .join("\n");

export const lengthOf = (start: number, end: number) => m.select.seconds(number(end - start, 3));
