// Scrubbing through a moment: a few frames of it, chosen by the position of the pointer.
import type { Span } from "../../api/types";

/** Number of frames of a moment; each is a request to the service. */
export const FRAMES = 5;

/** The times of the frames in seconds: the middles of equal parts of the moment. */
export const scrubTimes = ({ start, end }: Span): number[] =>
  Array.from({ length: FRAMES }, (_, index) => start + ((index + 0.5) / FRAMES) * (end - start));

/** The index of the frame at a fraction (0..1) of the picture's width. */
export const scrubIndex = (part: number): number =>
  Math.min(FRAMES - 1, Math.max(0, Math.floor(part * FRAMES)));
