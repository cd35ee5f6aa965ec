import { expect, test } from "vitest";
import { area, line, percent, ticks } from "./line";

const times = { low: 0, high: 10 };
const points = [
  { t: 0, value: 1 },
  { t: 5, value: 3 },
];

test("places values on the axis, and those outside at its ends", () => {
  expect(percent(5, times)).toBe(50);
  expect(percent(-1, times)).toBe(0);
  expect(percent(11, times)).toBe(100);
  expect(percent(1, { low: 2, high: 2 })).toBe(0);
});

test("labels an axis with round values", () => {
  expect(ticks({ low: 0, high: 3.15 })).toEqual([0, 1, 2, 3]);
  expect(ticks({ low: -1, high: 1 })).toEqual([-1, -0.5, 0, 0.5, 1]);
  expect(ticks({ low: 0, high: 105 })).toEqual([0, 50, 100]);
  expect(ticks({ low: 0, high: 0 })).toEqual([]);
});

test("draws straight lines and steps", () => {
  expect(line(points, times, { low: 0, high: 4 }, false)).toBe("M0 75L50 25");
  expect(line(points, times, { low: 0, high: 4 }, true)).toBe("M0 75H50V25H100");
  expect(line([], times, { low: 0, high: 4 }, true)).toBe("");
});

test("fills from the line to the value 0", () => {
  expect(area(points, times, { low: -4, high: 4 }, false)).toBe("M0 37.5L50 12.5L50 50L0 50Z");
  expect(area(points, times, { low: 0, high: 4 }, true)).toBe("M0 75H50V25H100L100 100L0 100Z");
  expect(area([], times, { low: 0, high: 4 }, false)).toBe("");
});
