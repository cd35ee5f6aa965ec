import { expect, it } from "vitest";
import { highlightQuery } from "./highlight";

const hits = (text: string, query: string) =>
  highlightQuery(text, query)
    .filter(({ hit }) => hit)
    .map(({ text }) => text);

it("highlights query words, and quoted phrases as a whole", () => {
  expect(hits("A grey cat sees cats, not a grey dog.", "grey cats")).toEqual(["grey", "cat", "cats", "grey"]);
  expect(hits("A grey cat sees a Grey, cat-like dog.", '"grey cat"')).toEqual(["grey cat", "Grey, cat"]);
  expect(hits("A grey cat and a boat.", '"grey cat" boats')).toEqual(["grey cat", "boat"]);
  expect(hits("the", "the")).toEqual([]);
});
