// Histogram of result scores.

/** Number of bins over 0..1. */
const BINS = 10;

export type Bin = { from: number; to: number; count: number };

/** Counts values (0..1) per bin. */
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
