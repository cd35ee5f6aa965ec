// Pictures to search for. The address names a frame of a video, or a picture that this browser tab keeps,
// because a picture itself does not fit into an address.

import type { Schema } from "./types";

/** The vector field of pictures; the service has it if it can compare them. */
export const VISUAL = "visual";
export const comparesPictures = (schema: Schema | null) => VISUAL in (schema?.vector_fields ?? {});

/** A part of a picture: left, top, width and height as fractions (0..1). */
export type Region = [x: number, y: number, width: number, height: number];

/** A frame of a video; `t` in seconds. */
export type FrameReference = { video_id: string; t: number };

/** The name of a frame in the address. */
export const frameReference = ({ video_id, t }: FrameReference) => `f_${video_id}_${Math.round(t * 1000)}`;

/** The frame with this name; undefined if it is not that of a frame. */
export function parseFrameReference(name: string): FrameReference | undefined {
  const [, video_id, ms] = name.match(/^f_([0-9a-f]{16})_(\d+)$/) ?? [];
  return video_id === undefined ? undefined : { video_id, t: Number(ms) / 1000 };
}

const DECIMALS = 4;

export const formatRegion = (region: Region) =>
  region.map((share) => String(Number(share.toFixed(DECIMALS)))).join(",");

/** Parses a region; undefined if it does not lie within the picture. */
export function parseRegion(text: string): Region | undefined {
  const shares = text.split(",").map(Number);
  const [x = -1, y = -1, width = 0, height = 0] = shares;
  const inside = (start: number, length: number) =>
    start >= 0 && length > 0 && start + length <= 1 + 10 ** -DECIMALS * 2;
  if (shares.length !== 4 || !inside(x, width) || !inside(y, height)) return undefined;
  return [x, y, Math.min(width, 1 - x), Math.min(height, 1 - y)];
}
