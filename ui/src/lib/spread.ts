// How the scores of what was found are spread.

/** Bars of the picture, each of a tenth. */
const STEPS = 10;

export type Step = { from: number; to: number; count: number };

/** How many values, 0..1, are in each tenth. */
export function spread(values: number[]): Step[] {
  const steps = Array.from({ length: STEPS }, (_, index) => ({
    from: index / STEPS,
    to: (index + 1) / STEPS,
    count: 0,
  }));
  for (const value of values) {
    const step = steps[Math.min(STEPS - 1, Math.max(0, Math.floor(value * STEPS)))];
    if (step) step.count += 1;
  }
  return steps;
}
