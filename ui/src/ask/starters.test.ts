import { describe, expect, it } from "vitest";
import { en } from "../i18n/en";
import type { Presentation, Track } from "../api/types";
import { keyLine, keyWord, starterQuestions, type Evidence } from "./starters";

const track = (items: string, fields: Partial<Track> = {}): Track => ({
  items,
  start: "start",
  end: "end",
  label: "label",
  text: null,
  speaker: null,
  category: null,
  value: null,
  lane: null,
  ...fields,
});
const shown = (id: string, kind: string, tracks: Track[]): Presentation => ({
  id,
  label: id,
  icon: "list",
  kind,
  text: null,
  tab: null,
  tracks,
  charts: [],
});
const evidence = (part: Partial<Evidence> = {}): Evidence => ({
  chunks: [],
  aggregates: {},
  analyzers: [
    shown("talk", "speech", [track("/turns", { label: "text", speaker: "speaker" })]),
    shown("letters", "screen_text", [track("/lines")]),
  ],
  aggregators: [shown("parts", "sections", [track("/all", { text: "text" })])],
  duration: 60,
  ...part,
});
const turn = (speaker: string, text: string, start = 1, end = 4) => ({ speaker, text, start, end });
const chunk = (outputs: object) => ({ chunk_id: 0, start: 0, end: 10, timecode: "", ...outputs });

describe("the word to ask for", () => {
  it("is a name within a sentence", () => {
    expect(keyWord(["Welcome to Ellery, a remarkable harbour."], [])).toBe("Ellery");
    expect(keyWord(["The kitchen of Rosa's family in Lisbon."], [])).toBe("Lisbon");
  });

  it("is a name that is also on screen, if there is one", () => {
    expect(keyWord(["We are in Portele.", "On the Blue Heron."], ["BLUE HERON"])).toBe("Heron");
  });

  it("is the longest word if no name is said", () => {
    expect(keyWord(["The boats leave the harbour."], [])).toBe("harbour");
    expect(keyWord(["It's don't-touch-this easy, well-known."], [])).toBeUndefined();
  });

  it("is not found in short words or in a text without spaces", () => {
    expect(keyWord(["So it is.", ""], [])).toBeUndefined();
    expect(keyWord(["私たちは港に行きました"], [])).toBeUndefined();
  });
});

it("quotes a short line with words", () => {
  expect(keyLine(["11:15", "“Open”", "x".repeat(40), " FISH SOUP FOR 60 "])).toBe("FISH SOUP FOR 60");
  expect(keyLine(["7", "ab"])).toBeUndefined();
});

describe("the first questions about a video", () => {
  it("are about what was said, shown and by whom", () => {
    const chunks = [
      chunk({
        talk: { turns: [turn("S1", "We sail to Ellery."), turn("S2", "Fine.")] },
        letters: { lines: [{ label: "FISH SOUP" }] },
      }),
    ];
    expect(starterQuestions(evidence({ chunks }), en.starters)).toEqual([
      "When is “Ellery” mentioned?",
      "When is “FISH SOUP” on screen?",
      "Who talks most?",
    ]);
  });

  it("are about sections if little is said", () => {
    const aggregates = {
      parts: {
        all: [
          { label: "Waves", text: "The waves.", start: 20, end: 40 },
          { label: "Nothing", text: "", start: 40, end: 60 },
          { label: "Talk", text: "They talk.", start: 0, end: 20 },
        ],
      },
    };
    const chunks = [chunk({ talk: { turns: [turn("S1", "So it is.")] } })];
    expect(starterQuestions(evidence({ chunks, aggregates }), en.starters)).toEqual([
      "What happens between 0:20 and 0:40?",
      "What is said between 0:00 and 0:20?",
      "How long is the video?",
    ]);
  });

  it("always include one that any video answers", () => {
    expect(starterQuestions(evidence(), en.starters)).toEqual(["How long is the video?"]);
  });
});
