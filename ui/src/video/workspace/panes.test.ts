import { expect, it } from "vitest";
import { PANES, readSizes } from "./panes.svelte";

it("reads saved sizes within their limits", () => {
  expect(readSizes({ left: 40, picture: 99 })).toEqual({
    left: 40,
    picture: PANES.picture.max,
    speech: PANES.speech.initial,
  });
});

it("replaces sizes that are no numbers", () => {
  const initial = Object.fromEntries(Object.entries(PANES).map(([name, pane]) => [name, pane.initial]));
  expect(readSizes({ left: "wide", picture: null, speech: NaN })).toEqual(initial);
});
