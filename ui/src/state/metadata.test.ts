import { describe, expect, it } from "vitest";
import { formatValue, parseEntry, parseValue, titleOf, typeOf } from "./metadata";

const video = (metadata?: object) => ({ filename: "harbour.mp4", metadata }) as Parameters<typeof titleOf>[0];

describe("the title of a video", () => {
  it("is in its metadata", () => {
    expect(titleOf(video({ title: "The harbour" }))).toBe("The harbour");
  });

  it("is the file name if the metadata has no usable title", () => {
    for (const metadata of [undefined, {}, { title: " " }, { title: 7 }, { title: ["a"] }])
      expect(titleOf(video(metadata))).toBe("harbour.mp4");
  });
});

describe("metadata as text", () => {
  it("is read back with its type", () => {
    for (const value of ["north", "7", 2.5, false, ["a", "b c"]])
      expect(parseValue(formatValue(value), typeOf(value))).toEqual(value);
    for (const [value, type] of [
      ["north", "string"],
      ["7", "string"],
      [2.5, "number"],
      [false, "boolean"],
      [["a", "b c"], "list"],
      ["2026-01-31T12:00:00Z", "time"],
    ] as const)
      expect(parseValue(formatValue(value as never), type)).toEqual(value);
  });

  it("is removed by an empty text", () => {
    for (const type of ["string", "number", "list", undefined]) expect(parseValue("  ", type)).toBeNull();
  });

  it("leaves a text of another type to the service", () => {
    expect(parseValue("many", "number")).toBe("many");
    expect(parseValue("yes", "boolean")).toBe("yes");
  });

  it("gives a new key a number only if it is written as one", () => {
    expect(["12", "-0.5", "007", "1e3", "Infinity", "true"].map((text) => parseValue(text))).toEqual([
      12,
      -0.5,
      "007",
      "1e3",
      "Infinity",
      "true",
    ]);
  });
});

describe("a new entry", () => {
  it("has a key and a value", () => {
    expect(parseEntry("camera: north")).toEqual({ key: "camera", value: "north" });
    expect(parseEntry(" Shot  by :Ada: B ")).toEqual({ key: "shot_by", value: "Ada: B" });
  });

  it("is incomplete without either", () => {
    for (const text of ["", "north", ": north", "camera:", "camera: "]) expect(parseEntry(text)).toBeNull();
  });
});
