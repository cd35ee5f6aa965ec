// Lanes, panels and texts of analyzers and aggregators that only the schema knows.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { analyzersIn, chunkText, foundLines, plainText, presentationsOf, valueAt } from "../api/outputs";
import type { Chunk, Presentation, Schema, Track, TrackLane, VideoDetail } from "../api/types";
import { setServiceLabels } from "../i18n/service-labels.svelte";
import { app } from "../state/app.svelte";
import { VideoLog } from "./log/log.svelte";
import { bars, chartsOf, timeline } from "./panels/statistics/charts";
import { resultGroups, resultTabs, speechTabs } from "./panels/tabs";
import { buildLanes } from "./timeline/lanes";

// The API client reads the page's address.
vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" }));

const rows = (id: string, label: string, more: Partial<Presentation> = {}): Presentation => ({
  id,
  label,
  icon: "list",
  kind: "rows",
  text: null,
  tab: null,
  tracks: [],
  charts: [],
  ...more,
});
const track = (items: string, label: string, more: Partial<Track> = {}): Track => ({
  items,
  start: "start",
  end: "end",
  label,
  text: null,
  speaker: null,
  category: null,
  value: null,
  lane: null,
  ...more,
});
const lane = (id: string, label: string, rank: number, form = "spans"): TrackLane => ({
  id,
  label,
  form,
  rank,
  max: null,
});

const analyzers = [
  rows("stages", "Stages", { kind: "scene", text: "/what" }),
  rows("dialogue", "Dialogue", {
    kind: "speech",
    tab: { id: "words", label: "Words" },
    tracks: [track("/lines", "said", { speaker: "by", lane: lane("voice", "Voices", 40) })],
  }),
  rows("captions", "Captions", {
    kind: "speech",
    tab: { id: "words", label: "Words" },
    tracks: [track("/lines", "said", { lane: lane("voice", "Captions", 40) })],
  }),
  rows("props", "Props", {
    kind: "objects",
    text: "/names",
    tracks: [track("/things", "name", { lane: lane("prop", "Props", 80) })],
  }),
  rows("loudness", "Loudness"),
];
const aggregators = [
  rows("scenes", "Acts", {
    kind: "sections",
    tab: { id: "acts", label: "Acts" },
    tracks: [track("/acts", "title", { text: "plot", lane: lane("acts", "Acts", 0) })],
  }),
  rows("tempo", "Tempo", {
    kind: "charts",
    tab: { id: "numbers", label: "Numbers" },
    tracks: [track("/beats", "bpm", { value: "bpm", lane: lane("tempo", "Tempo", 110, "levels") })],
    charts: [
      { ...chartSpec("Beats", "steps", "/beats", "bpm"), high: 100 },
      { ...chartSpec("Instruments", "bars", "/players/named", "1"), label: "0" },
    ],
  }),
  rows("quietest", "Quietest moment"),
];
function chartSpec(title: string, form: string, items: string, value: string) {
  return { title, form, items, value, label: null, minus: null, category: null, low: 0, high: 1 };
}

const chunks: Chunk[] = [
  {
    chunk_id: 0,
    start: 0,
    end: 10,
    timecode: "0:00",
    stages: { what: "A hall." },
    dialogue: { lines: [{ start: 1, end: 2, said: "Hello.", by: "Ada" }] },
    captions: { lines: [{ start: 1, end: 2, said: "HELLO" }] },
    props: { names: ["cup", "hat"], things: [{ name: "cup" }, { name: "hat", start: 3, end: 4 }] },
    loudness: { decibels: -12.5, level: "quiet", _frames: [1] },
  },
  {
    chunk_id: 1,
    start: 10,
    end: 20,
    timecode: "0:10",
    captions: { lines: [{ start: 11, end: 12, said: "BYE" }] },
    props: { names: ["cup"], things: [{ name: "cup" }] },
    unheard: { of: "anything" },
  },
];

const log = new VideoLog("a");
beforeEach(() => {
  app.schema = { presentation: { analyzers, aggregators } } as unknown as Schema;
  setServiceLabels([...analyzers, ...aggregators]);
  log.detail = { duration: 20 } as VideoDetail;
  log.chunks = chunks;
  log.aggregates = {
    scenes: { acts: [{ start: 0, end: 20, title: "One", plot: "All of it." }] },
    tempo: {
      beats: [
        { start: 10, end: 20, bpm: 60 },
        { start: 0, end: 10, bpm: 120 },
      ],
      players: {
        named: [
          ["harp", 4],
          ["horn", 1],
        ],
      },
    },
    quietest: { moment: { chunk_id: 0, start: 0, end: 10, decibels: -12.5 } },
  };
});

describe("lanes", () => {
  const laneItems = (name: string) =>
    buildLanes(log, [])
      .find((one) => one.name === name)
      ?.items.map(({ start, end, label }) => [start, end, label]);

  it("exist for every analyzer and aggregator with something timed, by rank", () => {
    expect(buildLanes(log, []).map(({ name }) => name)).toEqual([
      "Acts",
      "Moments",
      "Voices",
      "Cup",
      "Hat",
      "Tempo",
      "Loudness",
      "Unheard",
      "Quietest moment",
    ]);
  });

  it("take items, labels and times from the fields of a track", () => {
    expect(laneItems("Cup")).toEqual([
      [0, 10, "Cup"],
      [10, 20, "Cup"],
    ]);
    expect(laneItems("Hat")).toEqual([[3, 4, "Hat"]]);
    expect(laneItems("Acts")).toEqual([[0, 20, "One"]]);
  });

  it("show the speech of one analyzer per chunk", () => {
    expect(laneItems("Voices")).toEqual([
      [1, 2, "Ada: Hello."],
      [11, 12, "BYE"],
    ]);
    expect(log.speakers).toEqual(["", "Ada"]);
  });

  it("show levels relative to the highest", () => {
    const levels = buildLanes(log, []).find(({ id }) => id === "tempo");
    expect(levels?.kind).toBe("levels");
    expect(levels?.items.map(({ label, level }) => [label, level])).toEqual([
      ["Tempo: 120.00", 1],
      ["Tempo: 60.00", 0.5],
    ]);
  });

  it("show the text of outputs and the moments of results without tracks", () => {
    expect(laneItems("Loudness")).toEqual([[0, 10, "decibels -12.5 · level quiet"]]);
    expect(laneItems("Quietest moment")).toEqual([[0, 10, "decibels -12.5"]]);
  });
});

describe("panels", () => {
  it("exist for every output and result that has none in the schema", () => {
    expect(resultTabs(log).map(({ id, name, panel }) => [id, name, panel])).toEqual([
      ["moments", "Moments", "moments"],
      ["words", "Words", "speech"],
      ["acts", "Acts", "sections"],
      ["numbers", "Numbers", "charts"],
      ["output-loudness", "Loudness", "outputs"],
      ["output-unheard", "Unheard", "outputs"],
      ["more", "More", "more"],
      ["comments", "Comments", "comments"],
    ]);
    expect(
      resultTabs(log)
        .find(({ panel }) => panel === "more")
        ?.shown.map(({ id }) => id),
    ).toEqual(["quietest"]);
  });

  it("are in few groups, and the transcript is in none", () => {
    const tabs = resultTabs(log);
    expect(speechTabs(tabs).map(({ name }) => name)).toEqual(["Words"]);
    expect(resultGroups(tabs).map(({ name, tabs }) => [name, tabs.map(({ id }) => id)])).toEqual([
      ["Moments", ["moments"]],
      ["Acts", ["acts"]],
      ["Data", ["numbers", "output-loudness", "output-unheard", "more"]],
      ["Comments", ["comments"]],
    ]);
    const grouped = resultGroups(tabs).flatMap((group) => group.tabs);
    expect([...grouped, ...speechTabs(tabs)]).toHaveLength(tabs.length);
  });

  it("are hidden without content", () => {
    log.chunks = [];
    log.aggregates = { scenes: { acts: [] } };
    expect(resultTabs(log).map(({ id }) => id)).toEqual(["moments", "comments"]);
  });
});

describe("charts", () => {
  it("read their numbers from the fields in the schema", () => {
    const [beats, instruments] = chartsOf(aggregators, log.aggregates);
    expect(beats && timeline(beats.chart, beats.result)).toEqual({
      points: [
        { t: 0, value: 120 },
        { t: 10, value: 60 },
      ],
      high: 126,
    });
    expect(instruments && bars(instruments.chart, instruments.result)).toEqual([
      { name: "harp", value: 4, part: 1 },
      { name: "horn", value: 1, part: 0.25 },
    ]);
  });
});

describe("texts", () => {
  it("describe a chunk by the first analyzer that has a text", () => {
    expect(chunks.map((chunk) => chunkText(chunk, analyzers))).toEqual(["A hall.", "BYE"]);
    expect(chunkText(chunks[0], analyzers.slice(1))).toBe("Ada: Hello.");
    expect(chunkText(chunks[0], analyzers.slice(3))).toBe("cup, hat");
  });

  it("compare a range analyzer by analyzer", () => {
    const shown = presentationsOf(analyzers, analyzersIn(chunks));
    const lines = shown.map((one) => [one.label, foundLines(chunks, one, { start: 0, end: 5 })]);
    expect(lines).toEqual([
      ["Stages", ["A hall."]],
      ["Dialogue", ["Ada: Hello."]],
      ["Captions", ["HELLO"]],
      ["Props", ["cup, hat"]],
      ["Loudness", ["decibels -12.5 · level quiet"]],
      ["Unheard", ["of anything"]],
    ]);
  });

  it("follow JSON pointers and leave out boxes and internal fields", () => {
    expect(valueAt({ "a/b": [{ c: 1 }] }, "/a~1b/0/c")).toBe(1);
    expect(valueAt(null, "/a/b")).toBeUndefined();
    expect(plainText({ one_two: [1, "x"], locations: [{ t: 1 }], _hidden: 2, none: null })).toBe(
      "one two 1, x",
    );
  });
});
