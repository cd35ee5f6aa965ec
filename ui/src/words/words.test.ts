import { describe, expect, it } from "vitest";
import { counting } from "./counting";
import { de } from "./de";
import { en } from "./en";

type Text = string | ((...given: never[]) => string);

/** Every text of a catalogue, by its path; those that only name what the service calls otherwise are apart. */
function texts(catalogue: object, path = ""): [path: string, text: Text][] {
  return Object.entries(catalogue).flatMap(([key, value]) =>
    typeof value === "object" ? texts(value, `${path}${key}.`) : [[`${path}${key}`, value as Text]],
  );
}
const english = new Map(texts(en));
const german = new Map(texts(de));

/** What a text says of words that stand for what it is told. */
const said = (text: Text) =>
  typeof text === "string"
    ? text
    : text(...(Array.from({ length: text.length }, (_, at) => `\u00ab${at}\u00bb`) as never[]));

describe("the catalogues", () => {
  it("have the same texts, German those besides that English takes from the service", () => {
    expect([...english.keys()].filter((path) => !german.has(path))).toEqual([]);
  });

  it("say all that they are told of", () => {
    // A count is put into words, of which a made-up one has none; another text writes what it is told.
    const told = (text: Text) => [...new Set(said(text).match(/\u00ab\d\u00bb/g))].sort();
    const counted = (text: Text) => typeof text === "function" && said(text).includes("NaN");
    for (const [path, text] of english) {
      const other = german.get(path) as Text;
      if (counted(text) || counted(other)) continue;
      expect([path, told(other)]).toEqual([path, told(text)]);
    }
  });

  it("are each in their own language", () => {
    const letters = (text: Text) => said(text).replace(/\u00ab\d\u00bb/g, "");
    const same = [...english].filter(
      ([path, text]) =>
        /\p{L}{2}/u.test(letters(text)) && letters(german.get(path) as Text) === letters(text),
    );
    expect(same.map(([path]) => path).sort()).toEqual(SAME);
  });

  it("have the forms of their language", () => {
    expect([0, 1, 2].map((count) => en.count.videos(count))).toEqual(["0 videos", "1 video", "2 videos"]);
    expect([1, 2000].map((count) => de.count.videos(count))).toEqual(["1 Video", "2.000 Videos"]);
    expect(counting("de")(1, "Bild", "Bilder")).toBe("1 Bild");
  });
});

/** What is called so in both. */
const SAME = [
  "common.megabytes",
  "inspector.moment",
  "library.videos",
  "pages.videos",
  "panels.aPerson",
  "panels.person",
  "player.name",
  "searches.within",
  "timeline.moment",
];
