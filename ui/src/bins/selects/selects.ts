// The order, the times and the ratings of selects.
import { clock } from "../../i18n/format";
import { parseTime } from "../../player/timecode";
import type { Select, Span } from "../../api/types";

/** The span of a select as trimmed. */
export const trimmedSpan = (select: Pick<Select, "start" | "end" | "in" | "out">): Span => ({
  start: select.in ?? select.start,
  end: select.out ?? select.end,
});

/** `m:ss.mmm`, rounded to milliseconds. */
export function formatMillis(seconds: number): string {
  const millis = Math.max(0, Math.round(seconds * 1000));
  return `${clock(millis / 1000)}.${String(millis % 1000).padStart(3, "0")}`;
}

/** Parses typed in and out points; null unless both are times and the out point is later. */
export function parseTrim(start: string, end: string): Span | null {
  const [from, to] = [parseTime(start), parseTime(end)];
  return from !== null && to !== null && from < to ? { start: from, end: to } : null;
}

/** The change that trims a select to a span; an edge of the moment is no trim. */
export const trimTo = (select: Pick<Select, "start" | "end">, span: Span) => ({
  in: sameTime(span.start, select.start) ? null : span.start,
  out: sameTime(span.end, select.end) ? null : span.end,
});
const sameTime = (a: number, b: number) => Math.abs(a - b) < 0.0005;

/** Splits typed tags at commas. */
export const parseTags = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];

/** Selects that may not be loaded yet. */
export type Slot = Select | undefined;

/** Moves selects before another one, or to the end if `before` is null. They keep the order of `ids`. */
export function withMoved(slots: Slot[], ids: string[], before: string | null): Slot[] {
  const byId = new Map(slots.flatMap((slot) => (slot ? [[slot.select_id, slot]] : [])));
  const moved = ids.flatMap((id) => byId.get(id) ?? []);
  const moving = new Set(moved);
  const others = slots.filter((slot) => !slot || !moving.has(slot));
  const found = before === null ? -1 : others.findIndex((slot) => slot?.select_id === before);
  const place = found < 0 ? others.length : found;
  return [...others.slice(0, place), ...moved, ...others.slice(place)];
}

/** A place to move to: before a select, or to the end if null. */
export type Target = { before: string | null };

/**
 * Where selects land that move by one place, as a block; undefined if they cannot move or if the neighbour
 * is not loaded. A block with gaps closes up around its first select.
 */
export function stepTarget(slots: Slot[], ids: string[], step: 1 | -1): Target | undefined {
  const moving = new Set(ids);
  const first = slots.findIndex((slot) => slot && moving.has(slot.select_id));
  if (first < 0) return undefined;
  const others = slots.filter((slot) => !slot || !moving.has(slot.select_id));
  const place = first + step;
  if (place < 0 || place > others.length) return undefined;
  if (place === others.length) return { before: null };
  const next = others[place];
  return next && { before: next.select_id };
}

/** The ids among `ids` in the order of the bin. */
export const inOrder = (slots: Slot[], ids: ReadonlySet<string>): string[] =>
  slots.flatMap((slot) => (slot && ids.has(slot.select_id) ? [slot.select_id] : []));

/** Which selects are shown: those with a tag and a minimum rating; an empty tag and 0 for all. */
export type SelectFilter = { tag: string; rating: number };
export const NO_FILTER: SelectFilter = { tag: "", rating: 0 };
export const isFiltered = ({ tag, rating }: SelectFilter) => tag !== "" || rating > 0;

/** The selects that a filter shows. Those that are not loaded yet are shown only without one. */
export const matching = (slots: Slot[], filter: SelectFilter): Slot[] =>
  isFiltered(filter)
    ? slots.filter((slot) => slot && slot.rating >= filter.rating && hasTag(slot, filter.tag))
    : slots;
const hasTag = ({ tags }: Pick<Select, "tags">, tag: string) => tag === "" || tags.includes(tag);

/** The tags of selects with the number of selects that have them, the most frequent ones first. */
export function countTags(slots: Slot[]): [tag: string, selects: number][] {
  const counts = new Map<string, number>();
  for (const tag of slots.flatMap((slot) => slot?.tags ?? [])) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].toSorted(([a, n], [b, k]) => k - n || a.localeCompare(b));
}

/** The tags with one of them renamed, or removed if its new name is empty. */
export const withRenamedTag = (tags: string[], from: string, to: string): string[] => [
  ...new Set(tags.map((tag) => (tag === from ? to : tag)).filter(Boolean)),
];

/** Maximum number of suggested tags. */
const MOST_TAGS = 8;
/** The part of typed tags that a suggestion completes: the last tag, unless it is one of `tags` already. */
function incomplete(text: string, tags: string[]): string {
  const last = text.slice(text.lastIndexOf(",") + 1).trim();
  return tags.includes(last) ? "" : last;
}

/** The tags that complete typed tags, in the order of `tags`. */
export function suggestedTags(text: string, tags: string[]): string[] {
  const typed = parseTags(text);
  const start = incomplete(text, tags).toLowerCase();
  const fits = (tag: string) => !typed.includes(tag) && tag.toLowerCase().startsWith(start);
  return tags.filter(fits).slice(0, MOST_TAGS);
}

/** Typed tags that are completed by a suggestion. */
export function withTag(text: string, tag: string, tags: string[]): string {
  const typed = parseTags(text);
  const complete = incomplete(text, tags) ? typed.slice(0, -1) : typed;
  return [...complete, tag].join(", ");
}

export const RATINGS = [1, 2, 3, 4, 5];

export const stars = (rating: number) => "★".repeat(rating) + "☆".repeat(RATINGS.length - rating);
