import { describe, expect, it } from "vitest";
import type { Appearance, Person } from "../api/types";
import { byVideo, durations, renamings } from "./people";

const person = (seconds_visible: number, seconds_speaking: number): Person => ({
  name: "Ada",
  videos: 1,
  appearances: 1,
  seconds_visible,
  seconds_speaking,
});

describe("a person", () => {
  it("is visible and speaks for at least a second, or not at all", () => {
    expect(durations(person(0, 0))).toEqual([]);
    expect(durations(person(0.2, 0))).toEqual(["on screen for 0:01"]);
    expect(durations(person(61, 0.6))).toEqual(["on screen for 1:01", "speaks for 0:01"]);
  });

  it("has appearances by video, in their order", () => {
    const at = (video_id: string, start: number) => ({ video_id, start }) as Appearance;
    const all = [at("b", 1), at("b", 2), at("a", 1)];
    expect(byVideo(all)).toEqual([[all[0], all[1]], [all[2]]]);
    expect(byVideo([])).toEqual([]);
  });
});

it("a person is renamed as speaker and on screen, in the spelling of the video", () => {
  const given = [
    { of: "speaker", to: "Ada" },
    { of: "speaker", to: "ada " },
    { of: "person", to: "ADA" },
    { of: "words", to: "Ada" },
    { of: "person", to: "Bob" },
  ];
  const renamed = (...kinds: ("speaking" | "visible")[]) => renamings(given, kinds, "ada", "Ada Lovelace");
  expect(renamed("speaking", "visible")).toEqual([
    { of: "speaker", from: "ada ", to: "Ada Lovelace" },
    { of: "person", from: "ADA", to: "Ada Lovelace" },
  ]);
  expect(renamed("visible")).toHaveLength(1);
  expect(renamings(given, ["speaking"], "Cleo", "Eve")).toEqual([]);
});
