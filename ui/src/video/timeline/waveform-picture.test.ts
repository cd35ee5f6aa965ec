import { expect, it } from "vitest";
import { colourAt } from "./waveform-picture";

it("colours speech, and nothing between", () => {
  const colour = colourAt([
    { start: 1, end: 2, colour: 3 },
    { start: 2, end: 4, colour: 5 },
    { start: 6, end: 7, colour: 3 },
  ]);
  expect([0, 1, 1.9, 2, 3.9, 4, 6.5, 8].map(colour)).toEqual([
    undefined,
    3,
    3,
    5,
    5,
    undefined,
    3,
    undefined,
  ]);
});
