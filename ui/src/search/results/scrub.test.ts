import { describe, expect, it } from "vitest";
import { FRAMES, scrubIndex, scrubTimes } from "./scrub";

describe("scrubbing through a moment", () => {
  it("takes a few frames within the moment, in order", () => {
    const times = scrubTimes({ start: 10, end: 20 });
    expect(times).toEqual([11, 13, 15, 17, 19]);
    expect(times).toHaveLength(FRAMES);
  });

  it("chooses the frame by the position, also at and beyond the edges", () => {
    expect([-0.1, 0, 0.19, 0.2, 0.99, 1, 1.2].map(scrubIndex)).toEqual([0, 0, 0, 1, 4, 4, 4]);
  });
});
