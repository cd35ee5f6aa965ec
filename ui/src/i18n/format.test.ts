import { describe, expect, it } from "vitest";
import { clock, exactClock, parseClock, roundedClock, shortTime } from "./format";

describe("a typed time", () => {
  it("is read as seconds, minutes and seconds, or with hours", () => {
    const times = ["83.5", " 1:23 ", "0:05", "1:02:03", "1:02:03,25", "90:00"];
    expect(times.map(parseClock)).toEqual([83.5, 83, 5, 3723, 3723.25, 5400]);
  });

  it("is rounded down as a position, and to the nearest second as a length", () => {
    expect([42.97, 59.5, 12.49].map(clock)).toEqual(["0:42", "0:59", "0:12"]);
    expect([42.97, 59.5, 12.49].map(roundedClock)).toEqual(["0:43", "1:00", "0:12"]);
  });

  it("is refused if it is none", () => {
    expect(["", "a", "-1", "1:2:3:4", "1::2", "1:", "Infinity"].map(parseClock)).toEqual(
      Array.from({ length: 7 }, () => null),
    );
  });

  it("is shown with the fraction that it has, so that nothing is lost", () => {
    const times = [0, 12, 83.5, 12.501, 59.9996, 3723.25];
    expect(times.map(exactClock)).toEqual(["0:00", "0:12", "1:23.5", "0:12.501", "1:00", "1:02:03.25"]);
    expect([0, 12.501, 16.82, 59.96].map(shortTime)).toEqual(["0:00", "0:12.5", "0:16.8", "1:00"]);
    for (const seconds of [12.501, 3723.25]) expect(parseClock(exactClock(seconds))).toBeCloseTo(seconds, 6);
  });
});
