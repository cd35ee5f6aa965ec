// User metadata of videos: the title, and values as text that people edit.
import type { MetadataValue, Video } from "../api/types";

/** The metadata key whose text is shown instead of the file name. */
export const TITLE = "title";

export const metadataOf = ({ metadata }: Pick<Video, "metadata">): Record<string, MetadataValue> =>
  metadata ?? {};

/** A video's title: that in its metadata, otherwise its file name. */
export function titleOf(video: Pick<Video, "filename" | "metadata">): string {
  const title = metadataOf(video)[TITLE];
  return typeof title === "string" && title.trim() ? title : video.filename;
}

/** The type of a value, as `parseValue` takes it. */
export const typeOf = (value: MetadataValue): string => (Array.isArray(value) ? "list" : typeof value);

/** A value as the text that `parseValue` reads. */
export const formatValue = (value: MetadataValue): string => [value].flat().join(", ");

/**
 * The value of a typed text, or null if the text is empty. `type` is that of the key in other videos; a text
 * that is not of this type stays a text, which the service rejects with the reason. A new key gets a number
 * only if the text is written as one, so that 007 stays a text.
 */
export function parseValue(text: string, type?: string): MetadataValue | null {
  const trimmed = text.trim();
  if (!trimmed) return null;
  const number = Number(trimmed);
  if (type === "list") return trimmed.split(",").flatMap((part) => part.trim() || []);
  if (type === "boolean") return /^(true|false)$/.test(trimmed) ? trimmed === "true" : trimmed;
  if (type === "number") return Number.isFinite(number) ? number : trimmed;
  if (type === undefined && String(number) === trimmed && Number.isFinite(number)) return number;
  return trimmed;
}

/** Parses `camera: north`; null without a key. A space within the key becomes an underscore. */
export function parseEntry(text: string): { key: string; value: string } | null {
  const [, key, value] = text.match(/^\s*([^:]*?)\s*:\s*(.*?)\s*$/s) ?? [];
  return key && value ? { key: key.toLowerCase().replaceAll(/\s+/g, "_"), value } : null;
}
