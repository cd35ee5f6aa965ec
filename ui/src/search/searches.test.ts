import { describe, expect, it } from "vitest";
import { clearRecent, setSaved, addRecent, loadSearches } from "./searches";

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
    setSaved("#/search?q=x", true, here);
    expect(setSaved("#/search?q=y", true, here).saved).toEqual(["#/search?q=y", "#/search?q=x"]);
    expect(clearRecent(here)).toEqual({ recent: [], saved: ["#/search?q=y", "#/search?q=x"] });
    expect(setSaved("#/search?q=y", false, here).saved).toEqual(["#/search?q=x"]);
  });

  it("are empty if storage is invalid", () => {
    for (const text of ["nonsense", "[]", '{"recent": 3}', '{"saved": [1, null]}', "null"]) {
      expect(loadSearches(store(text))).toEqual({ recent: [], saved: [] });
    }
  });
});
