// Moment ids, which contain the video id and the span in milliseconds.
import type { Hit, Span } from "./types";

type MomentSpan = Pick<Hit, "moment_id" | "video_id" | "start" | "end">;

/** The id of a moment, derived from its span if it has none. */
export function momentId({ moment_id, video_id, start, end }: MomentSpan): string {
  return moment_id ?? `m_${video_id}_${Math.round(start * 1000)}_${Math.round(end * 1000)}`;
}

/** Parses a moment id; undefined if it is invalid. */
export function parseMomentId(id: string): (Span & { video_id: string }) | undefined {
  const [, video_id, start, end] = id.match(/^m_([0-9a-f]{16})_(\d+)_(\d+)$/) ?? [];
  if (video_id === undefined) return undefined;
  return { video_id, start: Number(start) / 1000, end: Number(end) / 1000 };
}

/** The distinct spans in one video, sorted by time. */
export function spansInVideo(hits: Hit[], video: string): Span[] {
  const distinct = new Map<string, Span>();
  for (const { video_id, start, end } of hits) {
    if (video_id === video && start < end) distinct.set(`${start}-${end}`, { start, end });
  }
  return [...distinct.values()].sort((a, b) => a.start - b.start || a.end - b.end);
}

/** The next or previous span relative to `time`, wrapping around. */
export function nextSpan(all: Span[], time: number, step: 1 | -1): Span | undefined {
  const slack = 0.05;
  return step > 0
    ? (all.find(({ start }) => start > time + slack) ?? all[0])
    : (all.findLast(({ start }) => start < time - slack) ?? all.at(-1));
}
