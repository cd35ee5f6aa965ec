import { describe, expect, it } from "vitest";
import { addRecent, clearRecent, loadSearches, removeSaved, saveSearch } from "./searches";

function store(text: string | null = null) {
  let stored = text;
  return { getItem: () => stored, setItem: (_: string, value: string) => void (stored = value) };
}

describe("stored searches", () => {
  it("are distinct, latest first, and limited in number", () => {
    const here = store();
    for (let n = 0; n < 12; n += 1) addRecent(`#/search?q=${n}`, here);
    expect(addRecent("#/search?q=5", here).recent.slice(0, 2)).toEqual(["#/search?q=5", "#/search?q=11"]);
    expect(loadSearches(here).recent).toHaveLength(10);
    saveSearch("#/search?q=x", "X", here);
    expect(saveSearch("#/search?q=y", "Y", here).saved).toEqual(["#/search?q=y", "#/search?q=x"]);
    const names = { "#/search?q=x": "X", "#/search?q=y": "Y" };
    expect(clearRecent(here)).toEqual({ recent: [], saved: ["#/search?q=y", "#/search?q=x"], names });
    expect(removeSaved("#/search?q=y", here)).toMatchObject({
      saved: ["#/search?q=x"],
      names: { "#/search?q=x": "X" },
    });
    expect(addRecent("#/search?q=z", here).names).toEqual({ "#/search?q=x": "X" });
  });

  it("are empty if storage is invalid", () => {
    for (const text of [
      "nonsense",
      "[]",
      '{"recent": 3}',
      '{"saved": [1, null], "names": {"a": 1}}',
      "null",
    ]) {
      expect(loadSearches(store(text))).toEqual({ recent: [], saved: [], names: {} });
    }
  });
});
