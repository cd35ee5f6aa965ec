// The share that the first of two panes has of their container, in percent.

export type Direction = "columns" | "rows";
export type Limits = { min: number; max: number };

/** Steps of the arrow keys, in percent. */
const STEP = 2;
const LARGE_STEP = 10;

export const clampShare = (share: number, { min, max }: Limits) => Math.min(max, Math.max(min, share));

/** The share for a pointer at `position` in a container that starts at `start` and is `length` long. */
export const shareAt = (position: number, start: number, length: number, limits: Limits) =>
  length > 0 ? clampShare(((position - start) / length) * 100, limits) : limits.min;

/** The share after a key is pressed; null for a key that does not move the separator. */
export function shareAfterKey(
  { key, shiftKey }: { key: string; shiftKey: boolean },
  direction: Direction,
  share: number,
  limits: Limits,
): number | null {
  const [less, more] = direction === "columns" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const step = shiftKey ? LARGE_STEP : STEP;
  if (key === less) return clampShare(share - step, limits);
  if (key === more) return clampShare(share + step, limits);
  if (key === "Home") return limits.min;
  if (key === "End") return limits.max;
  return null;
}
