import { describe, expect, it } from "vitest";
import { changes, within, type Correction } from "./corrections";

describe("changes", () => {
  it("are the words that differ", () => {
    expect(changes("The web telescope is cold.", "The Webb telescope is cold.")).toEqual([
      { from: "web", to: "Webb" },
    ]);
    expect(changes("a b c d e", "a x c d y z")).toEqual([
      { from: "b", to: "x" },
      { from: "e", to: "y z" },
    ]);
    expect(changes("the same", "the  same")).toEqual([]);
    expect(changes("nothing left", "")).toEqual([{ from: "nothing left", to: "" }]);
  });

  it("take a neighbour along where the words stand twice", () => {
    expect(changes("the web of web pages", "the web of Webb pages")).toEqual([
      { from: "of web", to: "of Webb" },
    ]);
  });

  it("take a neighbour along where words are added", () => {
    expect(changes("It is cold.", "It is very cold.")).toEqual([{ from: "is", to: "is very" }]);
    expect(changes("is cold", "It is cold")).toEqual([{ from: "is", to: "It is" }]);
  });

  it("that grow together are one", () => {
    expect(changes("web web web", "Webb web Webb")).toEqual([{ from: "web web web", to: "Webb web Webb" }]);
  });
});

it("corrections are found by what they are of and when they show", () => {
  const one = { id: "a", of: "words", spans: [[2, 3]] } as unknown as Correction;
  expect(within([one], { start: 2.5, end: 9 }, ["words"])).toEqual([one]);
  expect(within([one], { start: 3, end: 9 }, ["words"])).toEqual([]);
  expect(within([one], { start: 2, end: 9 }, ["person"])).toEqual([]);
});
