// How the scores of what was found are spread.

/** Bars of the picture, each of a tenth. */
const BINS = 10;

export type Bin = { from: number; to: number; count: number };

/** How many values, 0..1, are in each tenth. */
export function histogram(values: number[]): Bin[] {
  const steps = Array.from({ length: BINS }, (_, index) => ({
    from: index / BINS,
    to: (index + 1) / BINS,
    count: 0,
  }));
  for (const value of values) {
    const step = steps[Math.min(BINS - 1, Math.max(0, Math.floor(value * BINS)))];
    if (step) step.count += 1;
  }
  return steps;
}
