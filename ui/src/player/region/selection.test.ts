import { expect, it } from "vitest";
import { pointInPicture, regionBetween, RegionSelection } from "./selection.svelte";

it("a point is measured in the picture, without the bars around it", () => {
  const stage = { width: 400, height: 100 };
  const picture = { width: 1280, height: 720 };
  const width = 100 * (1280 / 720);
  const left = (400 - width) / 2;
  expect(pointInPicture({ x: left + width / 2, y: 50 }, stage, picture)).toEqual({ x: 0.5, y: 0.5 });
  expect(pointInPicture({ x: 0, y: 200 }, stage, picture)).toEqual({ x: 0, y: 1 });
});

it("a box is the same in every direction of the drag", () => {
  const region = [0.25, 0.25, 0.5, 0.25];
  expect(regionBetween({ x: 0.25, y: 0.25 }, { x: 0.75, y: 0.5 })).toEqual(region);
  expect(regionBetween({ x: 0.75, y: 0.5 }, { x: 0.25, y: 0.25 })).toEqual(region);
});

it("a click marks nothing", () => {
  const selection = new RegionSelection();
  selection.start({ x: 0.5, y: 0.5 });
  expect(selection.move({ x: 0.505, y: 0.6 })).toBe(false);
  expect(selection.move({ x: 0.6, y: 0.6 })).toBe(true);
  selection.end();
  expect(selection.move({ x: 0.9, y: 0.9 })).toBe(false);
  expect(selection.region?.[2]).toBeCloseTo(0.1);
  selection.clear();
  expect(selection.region).toBeNull();
});
