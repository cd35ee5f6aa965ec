import { expect, it } from "vitest";
import { momentId, parseMomentId, nextSpan, spansInVideo } from "./moments";

const video_id = "00c0ffee00c0ffee";

it("builds and parses moment ids", () => {
  const cited = { video_id, start: 12.5, end: 20 };
  expect(momentId(cited)).toBe(`m_${video_id}_12500_20000`);
  expect(parseMomentId(momentId(cited))).toEqual(cited);
  expect(momentId({ ...cited, moment_id: "m_x" })).toBe("m_x");
  for (const id of ["", "m_x", `m_${video_id}_1`, `m_${video_id}_1_2_3`])
    expect(parseMomentId(id)).toBeUndefined();
});

it("sorts the results in a video and steps through them in a cycle", () => {
  const hit = (id: string, start: number) => ({ video_id: id, start, end: start + 5 });
  const all = spansInVideo([hit("a", 30), hit("b", 1), hit("a", 10), hit("a", 30)], "a");
  expect(all).toEqual([
    { start: 10, end: 15 },
    { start: 30, end: 35 },
  ]);
  const from = (time: number, step: 1 | -1) => nextSpan(all, time, step)?.start;
  expect([from(0, 1), from(10, 1), from(12, 1), from(30, 1)]).toEqual([10, 30, 30, 10]);
  expect([from(0, -1), from(10, -1), from(12, -1), from(31, -1)]).toEqual([30, 30, 10, 30]);
  expect(nextSpan([], 1, 1)).toBeUndefined();
});
