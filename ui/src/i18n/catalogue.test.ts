import { describe, expect, it } from "vitest";
import { counter } from "./counting";
import { de } from "./de";
import { en } from "./en";

type Text = string | ((...args: never[]) => string);

/** Every text of a catalogue with its path. */
function texts(catalogue: object, path = ""): [path: string, text: Text][] {
  return Object.entries(catalogue).flatMap(([key, value]) =>
    typeof value === "object" ? texts(value, `${path}${key}.`) : [[`${path}${key}`, value as Text]],
  );
}
const english = new Map(texts(en));
const german = new Map(texts(de));

/** Renders a text with «0», «1» … as its arguments. */
const render = (text: Text) =>
  typeof text === "string"
    ? text
    : text(...(Array.from({ length: text.length }, (_, index) => `\u00ab${index}\u00bb`) as never[]));

describe("catalogues", () => {
  // German also has names that English takes from the service.
  it("have the same entries", () => {
    expect([...english.keys()].filter((path) => !german.has(path))).toEqual([]);
  });

  it("use the same placeholders", () => {
    const placeholders = (text: Text) => [...new Set(render(text).match(/\u00ab\d\u00bb/g))].sort();
    // A placeholder that is no number has no plural form.
    const hasCount = (text: Text) => typeof text === "function" && render(text).includes("NaN");
    for (const [path, text] of english) {
      const other = german.get(path) as Text;
      if (hasCount(text) || hasCount(other)) continue;
      expect([path, placeholders(other)]).toEqual([path, placeholders(text)]);
    }
  });

  it("are translated", () => {
    const letters = (text: Text) => render(text).replace(/\u00ab\d\u00bb/g, "");
    const same = [...english].filter(
      ([path, text]) =>
        /\p{L}{2}/u.test(letters(text)) && letters(german.get(path) as Text) === letters(text),
    );
    expect(same.map(([path]) => path).sort()).toEqual(SAME_IN_BOTH);
  });

  it("use the plural forms of their language", () => {
    expect([0, 1, 2].map((count) => en.count.videos(count))).toEqual(["0 videos", "1 video", "2 videos"]);
    expect([1, 2000].map((count) => de.count.videos(count))).toEqual(["1 Video", "2.000 Videos"]);
    expect(counter("de")(1, "Bild", "Bilder")).toBe("1 Bild");
  });
});

/** Texts that are the same in English and German. */
const SAME_IN_BOTH = [
  "bin.video",
  "common.megabytes",
  "corrections.kinds.person",
  "corrections.name",
  "corrections.newName",
  "filters.names.video_ids",
  "inspector.moment",
  "jobs.details",
  "library.orders.name",
  "library.videos",
  "pages.videos",
  "panels.aPerson",
  "panels.person",
  "player.name",
  "search.orders.video",
  "searches.within",
  "timeline.moment",
  "times.columns.video",
];
