// Moves the focus between search results with the arrow keys, in a list and in a grid.

/** The top left corner of a result, in pixels. */
export type Corner = { left: number; top: number };

/** Corners in one row differ by less, in pixels. */
const SLACK = 2;

/**
 * The index of the result in the direction of an arrow key, or -1 if there is none. Left and right are the
 * previous and the next result if there are columns.
 */
export function neighbour(corners: Corner[], from: number, key: string): number {
  const here = corners[from];
  if (!here) return -1;
  const inRow = (top: number) => (one: Corner) => Math.abs(one.top - top) < SLACK;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const next = from + (key === "ArrowRight" ? 1 : -1);
    const hasColumns = new Set(corners.map(({ left }) => Math.round(left))).size > 1;
    return hasColumns && next < corners.length ? next : -1;
  }
  if (key !== "ArrowUp" && key !== "ArrowDown") return -1;
  const sign = key === "ArrowDown" ? 1 : -1;
  const beyond = corners.filter(({ top }) => sign * (top - here.top) >= SLACK);
  const [nearest] = beyond.toSorted((a, b) => sign * (a.top - b.top));
  if (!nearest) return -1;
  const distance = ({ left }: Corner) => Math.abs(left - here.left);
  const [closest] = beyond.filter(inRow(nearest.top)).toSorted((a, b) => distance(a) - distance(b));
  return closest ? corners.indexOf(closest) : -1;
}

const results = () =>
  [...document.querySelectorAll<HTMLElement>(".hits > li")].filter((one) => one.checkVisibility());
const title = (result: Element | undefined) => result?.querySelector<HTMLElement>(".title");

/** Focuses the link of the result next to this one; returns false if there is none. */
export function focusNeighbour(result: HTMLElement, key: string): boolean {
  const all = results();
  const corners = all.map((one) => one.getBoundingClientRect());
  const target = title(all[neighbour(corners, all.indexOf(result), key)]);
  target?.focus();
  return target !== undefined && target !== null;
}

/** Focuses the link of the first result; returns false if there is none. */
export function focusFirst(): boolean {
  const target = title(results()[0]);
  target?.focus();
  return target !== undefined && target !== null;
}
