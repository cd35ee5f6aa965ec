import { describe, expect, it } from "vitest";
import {
  emptyStringOut,
  locate,
  reduce,
  stringOutTime,
  totalDuration,
  type Clip,
  type Effect,
  type StringOut,
  type StringOutEvent,
} from "./string-out";

const clip = (id: string, start: number, end: number, video = "v"): Clip => ({
  id,
  video,
  name: `${video}.mp4`,
  position: 0,
  url: `/${video}.mp4`,
  start,
  end,
});
const CLIPS = [
  clip("a", 10, 12),
  clip("b", 3, 8, "w"),
  clip("c", 0, 1),
  clip("d", 5, 6, "w"),
  clip("f", 6, 7),
  clip("g", 1, 2, "w"),
  clip("h", 7, 8),
  clip("e", 2, 4),
];

/** Applies events one after another; returns the last state and all effects in short form. */
function run(events: StringOutEvent[], from: StringOut = emptyStringOut): [StringOut, string[]] {
  const all: string[] = [];
  let state = from;
  for (const event of events) {
    const [next, effects] = reduce(state, event);
    state = next;
    all.push(...effects.map(short));
  }
  return [state, all];
}
const short = (effect: Effect) =>
  effect.type === "load"
    ? `load ${effect.slot} ${effect.clip.id}@${effect.time}`
    : effect.type === "report"
      ? `report ${effect.clip.id}`
      : `${effect.type} ${effect.slot}`;

const [ready] = run([{ type: "clips", clips: CLIPS }]);
const [playing] = run([{ type: "play" }], ready);

describe("a string-out", () => {
  it("loads the first clip, and the next six into the other elements", () => {
    const [, effects] = run([{ type: "clips", clips: CLIPS }]);
    const next = ["load 1 b@3", "load 2 c@0", "load 3 d@5", "load 4 f@6", "load 5 g@1", "load 6 h@7"];
    expect(effects).toEqual(["load 0 a@10", ...next]);
  });

  it("swaps the elements at the out point and prepares the clip after", () => {
    const [before] = run([{ type: "time", time: 11.9 }], playing);
    expect(before).toBe(playing);
    const [state, effects] = run([{ type: "time", time: 11.995 }], playing);
    expect(effects).toEqual(["play 1", "pause 0", "load 0 e@2"]);
    expect(state).toMatchObject({ index: 1, active: 1, playing: true });
    const [third, more] = run([{ type: "time", time: 8.1 }], state);
    expect(more).toEqual(["play 2", "pause 1"]);
    const outs = [1, 6, 7, 2, 8].map((time): StringOutEvent => ({ type: "time", time }));
    const [last, end] = run(outs, third);
    expect(end.slice(0, 4)).toEqual(["play 3", "pause 2", "play 4", "pause 3"]);
    expect(end.slice(-2)).toEqual(["play 0", "pause 6"]);
    expect(last).toMatchObject({ index: 7, active: 0 });
    expect(run([{ type: "ended" }], last)[0]).toMatchObject({ playing: false, ended: true });
  });

  it("does not advance while it is paused", () => {
    const [state, effects] = run([{ type: "pause" }, { type: "time", time: 20 }, { type: "ended" }], playing);
    expect([state.index, effects]).toEqual([0, ["pause 0"]]);
  });

  it("plays from the beginning after its end", () => {
    const [state, effects] = run(
      [{ type: "go", index: 7 }, { type: "time", time: 4 }, { type: "play" }],
      playing,
    );
    expect(state).toMatchObject({ index: 0, playing: true, ended: false });
    expect(effects.slice(-3)).toEqual(["pause 0", "load 0 a@10", "play 0"]);
    // The element that played the first clip is not at its in point any more.
    const [second] = run([{ type: "time", time: 12 }], { ...playing, clips: CLIPS.slice(0, 2) });
    const [, again] = run([{ type: "time", time: 8 }, { type: "play" }], second);
    expect(again).toEqual(["pause 1", "load 1 a@10", "play 1", "load 0 b@3"]);
  });

  it("goes to a time within a clip without the prepared element", () => {
    const [state, effects] = run([{ type: "go", index: 1, time: 5 }], playing);
    expect(effects).toEqual(["load 0 b@5", "play 0", "load 1 e@2"]);
    expect(state).toMatchObject({ index: 1, active: 0 });
  });

  it("reports a clip that fails and goes to the next", () => {
    const [state, effects] = run([{ type: "failed", slot: 0 }], playing);
    expect(effects).toEqual(["report a", "play 1", "pause 0", "load 0 e@2"]);
    expect(state).toMatchObject({ index: 1, active: 1 });
    // A failure of the same clip is reported once.
    expect(run([{ type: "failed", slot: 0 }], { ...state, loaded: [playing.loaded[0]] })[1]).toEqual([]);
  });

  it("skips a prepared clip that fails", () => {
    const [state, effects] = run([{ type: "failed", slot: 1 }], playing);
    expect(effects).toEqual(["report b", "load 1 e@2"]);
    expect(run([{ type: "time", time: 12 }], state)[0]).toMatchObject({ index: 2, active: 2 });
  });

  it("ends if no clip can be played", () => {
    const [state] = run([
      { type: "clips", clips: [CLIPS[0]] },
      { type: "play" },
      { type: "failed", slot: 0 },
    ]);
    expect(state).toMatchObject({ playing: false, ended: true });
  });

  it("keeps playing the current clip when the bin changes", () => {
    const [state, effects] = run([{ type: "clips", clips: [CLIPS[2], CLIPS[0], CLIPS[1]] }], playing);
    expect([state.index, effects]).toEqual([1, []]);
    const [trimmed, loads] = run([{ type: "clips", clips: [CLIPS[0], clip("b", 4, 8, "w")] }], playing);
    expect([trimmed.index, loads]).toEqual([0, ["load 1 b@4"]]);
    const [removed, moved] = run([{ type: "clips", clips: CLIPS.slice(1) }], playing);
    expect([removed.index, moved]).toEqual([0, ["play 1", "pause 0", "load 0 e@2"]]);
    expect(run([{ type: "clips", clips: [] }], playing)[0]).toMatchObject({ playing: false, ended: true });
  });
});

it("converts between times of the string-out and of its files", () => {
  expect(totalDuration(CLIPS)).toBe(14);
  expect(locate(CLIPS, 0)).toEqual({ index: 0, time: 10 });
  expect(locate(CLIPS, 2)).toEqual({ index: 1, time: 3 });
  expect(locate(CLIPS, 6.5)).toEqual({ index: 1, time: 7.5 });
  expect(locate(CLIPS, 99)).toEqual({ index: 7, time: 4 });
  expect(locate([], 5)).toEqual({ index: 0, time: 0 });
  for (const seconds of [0, 1.5, 2, 6.5, 7.25]) {
    const { index, time } = locate(CLIPS, seconds);
    expect(stringOutTime(CLIPS, index, time)).toBeCloseTo(seconds);
  }
  // A playhead outside the clip stays at its edge.
  expect([stringOutTime(CLIPS, 1, 0), stringOutTime(CLIPS, 1, 50)]).toEqual([2, 7]);
});
