// Reads outputs of analyzers and results of aggregators by their presentation in the service's schema.
import { capitalize, humanize, lookupName } from "../i18n/format";
import { m, number } from "../i18n/language.svelte";
import type { Box, Chunk, Fields, Presentation, Span, Track } from "./types";

/** An item of a track. `fields` is the item itself. */
export type TimedItem = Span & {
  label: string;
  text: string;
  speaker: string;
  category: string;
  value: number;
  fields: Fields;
};

export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a JSON pointer (RFC 6901). */
export const valueAt = (value: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((inner, key) => (inner as Fields | null | undefined)?.[key], value);

/** The items at a pointer to a list, or to the only item. */
export function listAt(value: unknown, pointer: string): Fields[] {
  const selected = valueAt(value, pointer);
  if (Array.isArray(selected)) return selected as Fields[];
  return isRecord(selected) ? [selected] : [];
}

/** The items of a track; items without times get those of `within`. */
export function trackItems(output: unknown, track: Track, within: Span): TimedItem[] {
  return listAt(output, track.items).map((fields) => {
    const time = (field: string, otherwise: number) =>
      typeof fields[field] === "number" ? fields[field] : otherwise;
    const text = (field?: string | null) => (field ? plainText(fields[field]) : "");
    return {
      start: time(track.start, within.start),
      end: time(track.end, within.end),
      label: text(track.label),
      text: text(track.text),
      speaker: text(track.speaker),
      category: text(track.category),
      value: track.value ? Number(fields[track.value]) || 0 : 0,
      fields,
    };
  });
}

/** The items of all tracks of a presentation. */
export const allItems = (output: unknown, { tracks }: Presentation, within: Span): TimedItem[] =>
  tracks.flatMap((track) => trackItems(output, track, within));

/** The boxes of an item. */
export const boxesOf = ({ fields }: TimedItem): Box[] =>
  Array.isArray(fields.locations) ? (fields.locations as Box[]) : [];

/** An item as text, with its speaker. */
export const itemText = ({ speaker, label }: TimedItem) => (speaker ? `${speaker}: ${label}` : label);

const hasText = ({ label }: TimedItem) => label.trim() !== "";

/** Any value as one line of text, without boxes and internal fields. */
export function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return number(value, 2);
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.map(plainText).filter(Boolean).join(", ");
  if (!isRecord(value)) return "";
  return Object.entries(value)
    .filter(([key]) => key !== "locations" && !key.startsWith("_"))
    .map(([key, inner]) => [lookupName(m.panels.fields, key) ?? humanize(key), plainText(inner)])
    .filter(([, text]) => text)
    .map(([key, text]) => `${key} ${text}`)
    .join(" · ");
}

/** The text that describes an output. */
export function outputText(output: unknown, presentation: Presentation): string {
  if (!isRecord(output)) return "";
  if (presentation.text) return plainText(valueAt(output, presentation.text));
  if (!presentation.tracks.length) return plainText(output);
  const items = allItems(output, presentation, { start: 0, end: 0 });
  return items.filter(hasText).map(itemText).join(" ");
}

/** The best available text of a chunk: that of the first analyzer that has one. */
export function chunkText(chunk: Chunk, analyzers: Presentation[]): string {
  for (const presentation of analyzers) {
    const text = outputText(chunk[presentation.id], presentation);
    if (text) return text;
  }
  return "";
}

/** What an analyzer found in a range, as distinct lines. */
export function foundLines(chunks: Chunk[], presentation: Presentation, range: Span): string[] {
  const { id, text, tracks, kind } = presentation;
  const values = chunks.map((chunk) => (text ? valueAt(chunk[id], text) : undefined));
  const overlaps = (one: Span) => one.start < range.end && one.end > range.start;
  const lines = (): string[] => {
    if (values.some(Array.isArray)) return [[...new Set(values.flat().map(plainText))].join(", ")];
    if (!tracks.length) return chunks.map((chunk) => outputText(chunk[id], presentation));
    const items = chunks.flatMap((chunk) => allItems(chunk[id], presentation, chunk)).filter(hasText);
    return (kind === "speech" ? items.filter(overlaps) : items).map(itemText);
  };
  return [...new Set(lines().map((line) => line.trim()))].filter(Boolean);
}

/** Rows, for an analyzer or aggregator that the schema does not contain. */
const asRows = (id: string): Presentation => ({
  id,
  label: capitalize(humanize(id)),
  icon: "list",
  kind: "rows",
  text: null,
  tab: null,
  tracks: [],
  charts: [],
});

/** The presentations of these ids, in the order of the schema; unknown ones last. */
export function presentationsOf(known: Presentation[], ids: Iterable<string>): Presentation[] {
  const present = new Set(ids);
  const listed = known.filter(({ id }) => present.delete(id));
  return [...listed, ...[...present].map(asRows)];
}

/** The ids of the analyzers with an output in any of the chunks. */
export function analyzersIn(chunks: Chunk[]): Set<string> {
  return new Set(
    chunks.flatMap((chunk) =>
      Object.entries(chunk)
        .filter(([, value]) => isRecord(value))
        .map(([id]) => id),
    ),
  );
}
