import { describe, expect, it } from "vitest";
import type { Select } from "../../api/types";
import {
  formatMillis,
  inOrder,
  matching,
  parseTags,
  parseTrim,
  stepTarget,
  suggestedTags,
  countTags,
  trimmedSpan,
  trimTo,
  withMoved,
  withRenamedTag,
  withTag,
  type Slot,
} from "./selects";

const slots = (ids: string) =>
  [...ids].map((id) => (id === "." ? undefined : ({ select_id: id } as Select))) as Slot[];
const ids = (all: Slot[]) => all.map((slot) => slot?.select_id ?? ".").join("");

describe("the order of selects", () => {
  it("changes as the service changes it", () => {
    expect(ids(withMoved(slots("abcde"), ["d"], "b"))).toBe("adbce");
    expect(ids(withMoved(slots("abcde"), ["e", "a"], "d"))).toBe("bcead");
    expect(ids(withMoved(slots("abcde"), ["b"], null))).toBe("acdeb");
    expect(ids(withMoved(slots("ab..e"), ["e"], "a"))).toBe("eab..");
  });

  it("changes by one place with a key", () => {
    const step = (all: string, moving: string[], by: 1 | -1) => {
      const target = stepTarget(slots(all), moving, by);
      return target && ids(withMoved(slots(all), moving, target.before));
    };
    expect(step("abcd", ["b"], 1)).toBe("acbd");
    expect(step("abcd", ["b"], -1)).toBe("bacd");
    expect(step("abcd", ["c"], 1)).toBe("abdc");
    expect(step("abcd", ["b", "c"], 1)).toBe("adbc");
    expect(step("abcd", ["d"], 1)).toBeUndefined();
    expect(step("abcd", ["a"], -1)).toBeUndefined();
    expect(step("abcd", ["x"], 1)).toBeUndefined();
    // A neighbour that is not loaded has no id.
    expect(step("a..d", ["d"], -1)).toBeUndefined();
  });

  it("is that of the bin for chosen selects", () => {
    expect(inOrder(slots("ab.cd"), new Set(["d", "a", "x"]))).toEqual(["a", "d"]);
  });
});

describe("the times of a select", () => {
  const select = { start: 10, end: 20, in: null, out: 18.5 };

  it("are those of the moment unless it is trimmed", () => {
    expect(trimmedSpan(select)).toEqual({ start: 10, end: 18.5 });
    expect(trimTo(select, { start: 10, end: 18.5 })).toEqual({ in: null, out: 18.5 });
    expect(trimTo(select, { start: 9.5, end: 20 })).toEqual({ in: 9.5, out: null });
  });

  it("are written with milliseconds and read back", () => {
    expect(["0", "59.9996", "83.5", "3723.25"].map((time) => formatMillis(Number(time)))).toEqual([
      "0:00.000",
      "1:00.000",
      "1:23.500",
      "1:02:03.250",
    ]);
    expect(parseTrim("1:23.500", "1:24,25")).toEqual({ start: 83.5, end: 84.25 });
    for (const [from, to] of [
      ["5", "5"],
      ["6", "5"],
      ["", "5"],
      ["x", "5"],
    ])
      expect(parseTrim(from, to)).toBeNull();
  });
});

it("splits tags at commas", () => {
  expect(parseTags(" b-roll, boats ,, b-roll")).toEqual(["b-roll", "boats"]);
  expect(parseTags(" ")).toEqual([]);
});

describe("a filter of selects", () => {
  const select = (id: string, rating: number, tags: string[]) => ({ select_id: id, rating, tags }) as Select;
  const all: Slot[] = [
    select("a", 5, ["boat", "fog"]),
    select("b", 0, ["fog"]),
    undefined,
    select("c", 3, []),
    select("d", 2, ["fog", "tug"]),
  ];

  it("shows those with a tag and a minimum rating", () => {
    expect(matching(all, { tag: "", rating: 0 })).toBe(all);
    expect(ids(matching(all, { tag: "fog", rating: 0 }))).toBe("abd");
    expect(ids(matching(all, { tag: "", rating: 3 }))).toBe("ac");
    expect(ids(matching(all, { tag: "fog", rating: 1 }))).toBe("ad");
    expect(ids(matching(all, { tag: "fo", rating: 0 }))).toBe("");
  });

  it("offers the tags by their number of selects", () => {
    expect(countTags(all)).toEqual([
      ["fog", 3],
      ["boat", 1],
      ["tug", 1],
    ]);
    expect(countTags([undefined])).toEqual([]);
  });
});

describe("the tags of a bin", () => {
  it("are renamed, merged and removed", () => {
    expect(withRenamedTag(["fog", "boat"], "fog", "mist")).toEqual(["mist", "boat"]);
    expect(withRenamedTag(["fog", "boat"], "fog", "boat")).toEqual(["boat"]);
    expect(withRenamedTag(["fog", "boat"], "fog", "")).toEqual(["boat"]);
  });

  const tags = ["b-roll", "boats", "fog"];

  it("complete the last typed tag", () => {
    expect(suggestedTags("", tags)).toEqual(tags);
    expect(suggestedTags("B", tags)).toEqual(["b-roll", "boats"]);
    expect(suggestedTags("b-roll", tags)).toEqual(["boats", "fog"]);
    expect(suggestedTags("fog, bo", tags)).toEqual(["boats"]);
    expect(suggestedTags("new", tags)).toEqual([]);
  });

  it("replace only what is incomplete", () => {
    expect(withTag("", "fog", tags)).toBe("fog");
    expect(withTag("b-roll", "fog", tags)).toBe("b-roll, fog");
    expect(withTag("b-roll, bo", "boats", tags)).toBe("b-roll, boats");
    expect(withTag("b-roll, ", "boats", tags)).toBe("b-roll, boats");
  });
});
