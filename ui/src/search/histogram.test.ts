import { expect, it } from "vitest";
import { histogram } from "./histogram";

it("counts values per bin, including both ends", () => {
  const steps = histogram([0, 0.05, 0.5, 0.59, 1]);
  expect(steps.map(({ count }) => count)).toEqual([2, 0, 0, 0, 0, 2, 0, 0, 0, 1]);
  expect(steps[5]).toMatchObject({ from: 0.5, to: 0.6 });
  expect(histogram([]).every(({ count }) => count === 0)).toBe(true);
});
