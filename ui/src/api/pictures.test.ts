import { describe, expect, it } from "vitest";
import { formatRegion, frameReference, parseFrameReference, parseRegion } from "./pictures";

describe("a picture in the address", () => {
  it("names a frame to the millisecond", () => {
    const frame = { video_id: "00c0ffee00c0ffee", t: 12.345 };
    expect(frameReference(frame)).toBe("f_00c0ffee00c0ffee_12345");
    expect(parseFrameReference(frameReference(frame))).toEqual(frame);
    for (const other of ["", "p_1", "f_x_1", "f_00c0ffee00c0ffee_1.5"]) {
      expect(parseFrameReference(other), other).toBeUndefined();
    }
  });

  it("has a region within the picture", () => {
    const region = parseRegion(formatRegion([0.25, 1 / 3, 0.75, 2 / 3]));
    expect(region).toEqual([0.25, 0.3333, 0.75, expect.closeTo(0.6667, 4)]);
    expect((region?.[1] ?? 0) + (region?.[3] ?? 0)).toBeLessThanOrEqual(1);
    for (const wrong of ["", "0,0,1", "0,0,0,1", "0.5,0,0.6,1", "-0.1,0,0.5,1", "a,b,c,d"]) {
      expect(parseRegion(wrong), wrong).toBeUndefined();
    }
  });
});
