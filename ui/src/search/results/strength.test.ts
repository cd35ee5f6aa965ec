import { describe, expect, it } from "vitest";
import { isStrong, NEAREST, splitByStrength } from "./strength";
import type { Hit } from "../../api/types";

const hit = (chunk_id: number, scores: Partial<Hit>) =>
  ({ video_id: "00c0ffee00c0ffee", chunk_id, start: chunk_id, end: chunk_id + 1, ...scores }) as Hit;

describe("results", () => {
  it("are strong by probability, and by similarity only without one", () => {
    expect(isStrong(hit(0, { p_present: 0.5, score: 0.1 }), { similarity: 0.4 })).toBe(true);
    expect(isStrong(hit(0, { p_present: 0.49, score: 0.9 }), { similarity: 0.4 })).toBe(false);
    expect(isStrong(hit(0, { score: 0.4 }), { similarity: 0.4 })).toBe(true);
    expect(isStrong(hit(0, { score: 0.39 }), { similarity: 0.4 })).toBe(false);
  });

  it("use the minimum that the user sets", () => {
    expect(isStrong(hit(0, { p_present: 0.2 }), { probability: 0.2 })).toBe(true);
    expect(isStrong(hit(0, { p_present: 0.8 }), { probability: 0.9 })).toBe(false);
  });

  it("of a listing or of a search without a threshold are all strong", () => {
    const all = [hit(0, {}), hit(1, { score: null }), hit(2, { score: 0.1 })];
    expect(splitByStrength(all, {})).toEqual({ shown: all, weaker: [], strong: true });
  });

  it("keep their order in both parts", () => {
    const all = [0.9, 0.2, 0.7, 0.4].map((p_present, index) => hit(index, { p_present }));
    const { shown, weaker, strong } = splitByStrength(all, {});
    expect([shown, weaker].map((part) => part.map(({ chunk_id }) => chunk_id))).toEqual([
      [0, 2],
      [1, 3],
    ]);
    expect(strong).toBe(true);
  });

  it("are the nearest few if none is strong", () => {
    const all = Array.from({ length: NEAREST + 2 }, (_, index) => hit(index, { p_present: 0.1 }));
    const { shown, weaker, strong } = splitByStrength(all, {});
    expect([shown.length, weaker.length, strong]).toEqual([NEAREST, 2, false]);
    expect(splitByStrength([], {})).toEqual({ shown: [], weaker: [], strong: false });
  });
});
