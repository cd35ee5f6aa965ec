/** The geometry of a line chart, in percent of its width and height; 0, 0 is the top left corner. */

export type Point = { t: number; value: number };
export type Range = { low: number; high: number };

/** Where a value lies between the ends of a range: 0 at the low end, 100 at the high end, never outside. */
export function percent(value: number, { low, high }: Range): number {
  if (high <= low) return 0;
  return Math.min(100, Math.max(0, ((value - low) / (high - low)) * 100));
}

/** Round values within a range, at most five, to label an axis with: multiples of 1, 2 or 5 times a power of ten. */
export function ticks({ low, high }: Range): number[] {
  if (high <= low) return [];
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const all: number[] = [];
  for (let index = Math.ceil(low / step); index * step <= high; index += 1) all.push(index * step);
  return all;
}

/**
 * The line through `points` as the data of an SVG path. With `stepped`, each value holds until the next point, and the
 * last one until the end.
 */
export function line(points: Point[], times: Range, values: Range, stepped: boolean): string {
  const x = ({ t }: Point) => round(percent(t, times));
  const y = ({ value }: Point) => round(100 - percent(value, values));
  const parts = points.map((point, index) => {
    if (index === 0) return `M${x(point)} ${y(point)}`;
    return stepped ? `H${x(point)}V${y(point)}` : `L${x(point)} ${y(point)}`;
  });
  return stepped && points.length > 0 ? `${parts.join("")}H100` : parts.join("");
}

/** The area between the line and the value 0, or the end of the axis that is next to 0. */
export function area(points: Point[], times: Range, values: Range, stepped: boolean): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return "";
  const base = round(100 - percent(0, values));
  const end = stepped ? 100 : round(percent(last.t, times));
  return `${line(points, times, values, stepped)}L${end} ${base}L${round(percent(first.t, times))} ${base}Z`;
}

const round = (value: number) => Math.round(value * 100) / 100;
