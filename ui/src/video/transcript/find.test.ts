import { describe, expect, it } from "vitest";
import { findMatches, replaceAllMatches, replaceMatch, replaceWords } from "./find";
import { buildWords, textOf } from "./words";

const turn = (start: number, text: string) => ({ speaker: "S1", start, end: start + 5, text });
const turns = [
  turn(0, "Web pages,  the web page."),
  turn(5, "A cobweb (web) and more."),
  turn(10, "No more."),
];
const spoken = buildWords(turns, []);
const find = (query: string) => findMatches(turns, spoken, query);

describe("matches", () => {
  it("are found within turns, regardless of case", () => {
    expect(find("web").map((match) => [match.turn, textOf(spoken, match)])).toEqual([
      [0, "Web"],
      [0, "web"],
      [1, "cobweb"],
      [1, "(web)"],
    ]);
    expect(find(" the  web p").map((match) => textOf(spoken, match))).toEqual(["the web page."]);
    expect(find("page. A")).toEqual([]);
    expect(find("(web)")).toHaveLength(1);
    expect(find("  ")).toEqual([]);
  });
});

describe("corrections", () => {
  it("replace selected words in the turns that have them", () => {
    expect(replaceWords(turns, spoken, { first: 0, last: 0 }, "Wet")).toEqual([
      { of: "words", from: "Web pages,", to: "Wet pages,", start: 0, end: 5 },
    ]);
    const last = spoken.words.length - 1;
    expect(replaceWords(turns, spoken, { first: last - 2, last }, "much less.")).toEqual([
      { of: "words", from: "more. No more.", to: "much less.", start: 5, end: 15 },
    ]);
    expect(replaceWords(turns, spoken, { first: 0, last: 0 }, "Web")).toEqual([]);
  });

  it("replace one match, and only the text that is found", () => {
    const [, , inWord] = find("web");
    expect(replaceMatch(turns, spoken, inWord, "nut")).toEqual([
      { of: "words", from: "cobweb", to: "cobnut", start: 5, end: 10 },
    ]);
  });

  it("replace all matches in the whole video, each phrase once", () => {
    expect(replaceAllMatches(turns, spoken, find("web"), "Webb")).toEqual([
      { of: "words", from: "cobweb", to: "cobWebb" },
      { of: "words", from: "web", to: "Webb" },
    ]);
    expect(replaceAllMatches(turns, spoken, find("page"), "")).toEqual([
      { of: "words", from: "pages,", to: "s," },
      { of: "words", from: "page.", to: "" },
    ]);
  });
});
