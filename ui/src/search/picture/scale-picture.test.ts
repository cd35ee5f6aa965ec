import { expect, it } from "vitest";
import { fitSize } from "./scale-picture";

it("a picture keeps its shape and is never scaled up", () => {
  expect(fitSize(4096, 2048)).toEqual({ width: 1024, height: 512 });
  expect(fitSize(640, 480)).toEqual({ width: 640, height: 480 });
  expect(fitSize(1, 5000)).toEqual({ width: 1, height: 1024 });
});
