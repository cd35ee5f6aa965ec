import { describe, expect, it } from "vitest";
import { frameAfter, parseFrameRate, parseTime, formatTime, sourceTimecode } from "./timecode";

describe("timecode", () => {
  it("formats frames, with drop-frame for NTSC rates", () => {
    expect(formatTime(62.5, "clock")).toBe("1:02");
    expect(formatTime(62.5, "seconds")).toBe("1:02.50");
    expect(formatTime(62.48, "frames", 25)).toBe("00:01:02:12");
    // The first two frame numbers of each minute are dropped, except every tenth minute.
    expect(formatTime(1800 / (30000 / 1001), "frames", 29.97)).toBe("00:01:00;02");
    expect(formatTime(17982 / (30000 / 1001), "frames", 29.97)).toBe("00:10:00;00");
    expect(formatTime(3600 / (60000 / 1001), "frames", 59.94)).toBe("00:01:00;04");
    expect(formatTime(24 / (24000 / 1001), "frames", 23.976)).toBe("00:00:01:00");
    // An unusual rate, and none.
    expect(formatTime(1.25, "frames", 14.3)).toBe("0:01.25");
    expect(formatTime(1.25, "frames")).toBe("0:01.25");
  });

  it("parses typed times", () => {
    expect(parseTime("83.5")).toBe(83.5);
    expect(parseTime(" 1:23 ")).toBe(83);
    expect(parseTime("1:02:03,25")).toBe(3723.25);
    expect(parseTime("00:01:02:12", 25)).toBeCloseTo(62.48);
    expect(parseTime("00:01:00;02", 29.97)).toBeCloseTo(60.06);
    for (const none of ["", "soon", "1:2:3:4", "-3", "1::2", "99:99:99:99:99"])
      expect(parseTime(none)).toBeNull();
  });

  it("round-trips every frame", () => {
    for (const rate of [24000 / 1001, 24, 25, 30000 / 1001, 30, 50, 60000 / 1001, 60]) {
      for (let frame = 0; frame < 40000; frame += 97) {
        const read = parseTime(formatTime(frame / rate, "frames", rate), rate);
        expect(Math.round((read ?? -1) * rate)).toBe(frame);
      }
    }
  });

  it("steps to the middle of the next or previous frame", () => {
    expect(frameAfter(0, 1, 25)).toBeCloseTo(0.06);
    expect(frameAfter(0.06, 1, 25)).toBeCloseTo(0.1);
    expect(frameAfter(0.1, -1, 25)).toBeCloseTo(0.06);
    expect(frameAfter(0, -1, 25)).toBe(0);
  });

  it("counts from the timecode of the first frame", () => {
    expect(sourceTimecode(2.5, "10:00:00:00", 25)).toBe("10:00:02:12");
    expect(sourceTimecode(60, "00:59:59:24", 25)).toBe("01:00:59:24");
    const ntsc = parseFrameRate("30000/1001");
    expect(sourceTimecode(0, "01:00:00;00", ntsc)).toBe("01:00:00;00");
    expect(sourceTimecode(1800 / (30000 / 1001), "01:00:00;00", ntsc)).toBe("01:01:00;02");
    expect(sourceTimecode(1, "01:00:00:00", ntsc)).toBe("01:00:00:29");
    for (const [first, rate] of [
      [undefined, 25],
      ["01:00:00:00", undefined],
      ["nonsense", 25],
    ] as const)
      expect(sourceTimecode(1, first, rate)).toBeUndefined();
  });

  it("parses exact frame rates", () => {
    expect(parseFrameRate("25")).toBe(25);
    expect(parseFrameRate("24000/1001")).toBeCloseTo(23.976, 3);
    for (const rate of ["", null, undefined, "0/1", "1/0", "x"]) expect(parseFrameRate(rate)).toBeUndefined();
  });
});
