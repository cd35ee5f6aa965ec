import { describe, expect, it } from "vitest";
import { wordChanges, correctionsIn, speakerNumbers, type Correction } from "./corrections";

describe("changes", () => {
  it("are the words that differ", () => {
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

  it("take a neighbour along where the words stand twice", () => {
    expect(wordChanges("the web of web pages", "the web of Webb pages")).toEqual([
      { from: "of web", to: "of Webb" },
    ]);
  });

  it("take a neighbour along where words are added", () => {
    expect(wordChanges("It is cold.", "It is very cold.")).toEqual([{ from: "is", to: "is very" }]);
    expect(wordChanges("is cold", "It is cold")).toEqual([{ from: "is", to: "It is" }]);
  });

  it("that grow together are one", () => {
    expect(wordChanges("web web web", "Webb web Webb")).toEqual([
      { from: "web web web", to: "Webb web Webb" },
    ]);
  });
});

const correction = (of: string, from: string, to: string, spans: number[][], start: number | null = null) =>
  ({ of, from, to, spans, start }) as unknown as Correction;

describe("a line of speech", () => {
  const line = (speaker: string) => ({ start: 2, end: 9, speaker });

  it("shows the corrections of its words while it is said", () => {
    const words = correction("words", "web", "Webb", [[2, 3]]);
    const person = correction("person", "a", "b", [[2, 3]]);
    expect(correctionsIn([words, person], line("S1"))).toEqual([words]);
    expect(correctionsIn([words], { start: 3, end: 9, speaker: "S1" })).toEqual([]);
  });

  it("shows a new name where it is its speaker's, not where another speaks at the same time", () => {
    const renamed = correction("speaker", "S1", "Ada", [[0, 2.5]]);
    const again = correction("speaker", "Ada", "Grace", [[0, 2.5]]);
    expect(correctionsIn([renamed], line("Ada"))).toEqual([renamed]);
    expect(correctionsIn([renamed], line("S2"))).toEqual([]);
    expect(correctionsIn([renamed, again], line("Grace"))).toEqual([renamed, again]);
    expect(correctionsIn([renamed, again], line("S2"))).toEqual([]);
  });
});

describe("the numbers of speakers", () => {
  const numbers = (speakers: string[], ...all: Correction[]) => [...speakerNumbers(speakers, all)];

  it("stay when somebody is renamed", () => {
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

  it("stay when a line is given to another speaker, or two turn out to be one", () => {
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
