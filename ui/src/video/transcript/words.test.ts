import { describe, expect, it } from "vitest";
import { buildWords, isUnsure, linesOf, spanOf, textOf, wordAt } from "./words";

const turn = (speaker: string, start: number, end: number, text: string) => ({ speaker, start, end, text });
const turns = [
  turn("S1", 0, 10, "It rains. We leave"),
  turn("S2", 10, 14, "When do we go?"),
  turn("S1", 14, 18, "at six."),
];
const sentences = [
  turn("S1", 1, 3, "It rains."),
  turn("S1", 4, 18, "We leave at six."),
  turn("S2", 10, 14, "When do we go?"),
].toSorted((a, b) => a.start - b.start);

describe("words", () => {
  const spoken = buildWords(turns, sentences);
  const texts = (sentence: number) =>
    spoken.words.filter((word) => word.sentence === sentence).map(({ text }) => text);

  it("belong to turns and to whole sentences", () => {
    expect(spoken.firsts).toEqual([0, 4, 8, 10]);
    expect([0, 1, 2].map(texts)).toEqual([
      ["It", "rains."],
      ["We", "leave", "at", "six."],
      ["When", "do", "we", "go?"],
    ]);
  });

  it("have times within the part of their sentence that is in their turn", () => {
    const [it1, rains, we, leave] = spoken.words;
    expect([it1.start, rains.end]).toEqual([1, 3]);
    expect(it1.end).toBe(rains.start);
    expect([we.start, leave.end]).toEqual([4, 10]);
    expect(spoken.words[8].start).toBe(14);
    expect(spoken.words[9].end).toBe(18);
    for (const { start, end } of spoken.words) expect(start).toBeLessThan(end);
  });

  it("are spread over their turn without sentences", () => {
    const { words } = buildWords([turn("", 2, 6, "one two")], []);
    expect(words.map(({ start, end, sentence }) => [start, end, sentence])).toEqual([
      [2, 4, 0],
      [4, 6, 0],
    ]);
    const other = buildWords([turn("", 2, 6, "one two")], [turn("", 2, 6, "other words")]);
    expect(other.words.map(({ sentence }) => sentence)).toEqual([1, 1]);
  });

  it("have the times of the service where it has them", () => {
    const words = [
      { start: 2.1, end: 2.4, text: "The" },
      { start: 2.5, end: 3.1, text: "Webb telescope" },
      { start: 4, end: 4.5, text: "opens." },
    ];
    const said = { ...turn("", 2, 6, "The Webb telescope opens."), words };
    const timed = buildWords([turn("", 2, 6, said.text)], [said]);
    const times = timed.words.map(({ start, end }) => [start, Number(end.toFixed(2))]);
    expect(times).toEqual([
      [2.1, 2.4],
      [2.5, 2.7],
      [2.7, 3.1],
      [4, 4.5],
    ]);
    // A short pause belongs to the word before it, a long one to none.
    expect([2.45, 3.5, 4.2].map((time) => wordAt(timed, 0, time))).toEqual([0, -1, 3]);
    const all = [turn("", 2, 6, said.text)];
    expect(spanOf(timed, all, { first: 1, last: 2 })).toEqual({ start: 2.4, end: 3.22 });
    const fewer = buildWords(all, [{ ...said, words: words.slice(1) }]);
    expect(fewer.words.every(({ estimated }) => estimated)).toBe(true);
  });

  it("are unsure below a probability", () => {
    const words = [
      { start: 2, end: 3, text: "Neither", confidence: 0.41 },
      { start: 3, end: 4, text: "did I.", confidence: 0.9 },
    ];
    const said = { ...turn("", 2, 4, "Neither did I."), words };
    const { words: all } = buildWords([turn("", 2, 4, said.text)], [said]);
    expect(all.map(isUnsure)).toEqual([true, false, false]);
    expect(spoken.words.some(isUnsure)).toBe(false);
  });

  it("are found by time, and not in pauses", () => {
    expect(wordAt(spoken, 0, 1.1)).toBe(0);
    expect(wordAt(spoken, 0, 3.5)).toBe(-1);
    expect(wordAt(spoken, 0, 0.5)).toBe(-1);
    expect(wordAt(spoken, -1, 1)).toBe(-1);
  });

  it("have a span with a margin, within their turns", () => {
    expect(spanOf(spoken, turns, { first: 0, last: 1 })).toEqual({ start: 0.88, end: 3.12 });
    expect(spanOf(spoken, turns, { first: 4, last: 9 })).toEqual({ start: 10, end: 18 });
  });

  it("are quoted with their speakers", () => {
    expect(textOf(spoken, { first: 2, last: 4 })).toBe("We leave When");
    expect(linesOf(spoken, turns, { first: 3, last: 8 })).toEqual([
      { speaker: "S1", text: "leave" },
      { speaker: "S2", text: "When do we go?" },
      { speaker: "S1", text: "at" },
    ]);
  });
});
