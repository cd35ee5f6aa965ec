import { describe, expect, it } from "vitest";
import { wordChanges, correctionsIn, speakerNumbers, type Correction } from "./corrections";

describe("wordChanges", () => {
  it("returns the words that differ", () => {
    expect(wordChanges("The web telescope is cold.", "The Webb telescope is cold.")).toEqual([
      { from: "web", to: "Webb" },
    ]);
    expect(wordChanges("a b c d e", "a x c d y z")).toEqual([
      { from: "b", to: "x" },
      { from: "e", to: "y z" },
    ]);
    expect(wordChanges("the same", "the  same")).toEqual([]);
    expect(wordChanges("nothing left", "")).toEqual([{ from: "nothing left", to: "" }]);
  });

  it("includes a neighbour for words that occur twice", () => {
    expect(wordChanges("the web of web pages", "the web of Webb pages")).toEqual([
      { from: "of web", to: "of Webb" },
    ]);
  });

  it("includes a neighbour for insertions", () => {
    expect(wordChanges("It is cold.", "It is very cold.")).toEqual([{ from: "is", to: "is very" }]);
    expect(wordChanges("is cold", "It is cold")).toEqual([{ from: "is", to: "It is" }]);
  });

  it("merges overlapping changes", () => {
    expect(wordChanges("web web web", "Webb web Webb")).toEqual([
      { from: "web web web", to: "Webb web Webb" },
    ]);
  });
});

const correction = (of: string, from: string, to: string, spans: number[][], start: number | null = null) =>
  ({ of, from, to, spans, start }) as unknown as Correction;

describe("correctionsIn", () => {
  const line = (speaker: string) => ({ start: 2, end: 9, speaker });

  it("returns word corrections within the turn", () => {
    const words = correction("words", "web", "Webb", [[2, 3]]);
    const person = correction("person", "a", "b", [[2, 3]]);
    expect(correctionsIn([words, person], line("S1"))).toEqual([words]);
    expect(correctionsIn([words], { start: 3, end: 9, speaker: "S1" })).toEqual([]);
  });

  it("returns a rename for its speaker only, not for one who speaks at the same time", () => {
    const renamed = correction("speaker", "S1", "Ada", [[0, 2.5]]);
    const again = correction("speaker", "Ada", "Grace", [[0, 2.5]]);
    expect(correctionsIn([renamed], line("Ada"))).toEqual([renamed]);
    expect(correctionsIn([renamed], line("S2"))).toEqual([]);
    expect(correctionsIn([renamed, again], line("Grace"))).toEqual([renamed, again]);
    expect(correctionsIn([renamed, again], line("S2"))).toEqual([]);
  });
});

describe("speakerNumbers", () => {
  const numbers = (speakers: string[], ...all: Correction[]) => [...speakerNumbers(speakers, all)];

  it("keeps numbers when a speaker is renamed", () => {
    expect(numbers(["S1", "S2", "S10"])).toEqual([
      ["S1", 0],
      ["S2", 1],
      ["S10", 2],
    ]);
    const zoe = correction("speaker", "S1", "Zoe", []);
    expect(numbers(["S2", "Zoe"], zoe)).toEqual([
      ["S2", 1],
      ["Zoe", 0],
    ]);
    const ada = correction("speaker", "Zoe", "Ada", []);
    expect(numbers(["Ada", "S2"], zoe, ada)).toEqual([
      ["Ada", 0],
      ["S2", 1],
    ]);
  });

  it("keeps numbers when a turn is reassigned or two speakers are merged", () => {
    const line = correction("speaker", "S1", "Ada", [], 3);
    expect(numbers(["Ada", "S1", "S2"], line)).toEqual([
      ["Ada", 2],
      ["S1", 0],
      ["S2", 1],
    ]);
    expect(numbers(["S1", "S2"], correction("speaker", "S1", "S2", [], 3))).toEqual([
      ["S1", 0],
      ["S2", 1],
    ]);
    expect(numbers(["S2", "S3"], correction("speaker", "S1", "S2", []))).toEqual([
      ["S2", 1],
      ["S3", 2],
    ]);
  });
});
