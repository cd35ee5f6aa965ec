import { expect, test } from "vitest";
import type { Utterance } from "../../api/types";
import { spoken } from "./spoken";

const utterance = (speaker: string | undefined, start: number, text: string, timed = true): Utterance => {
  const words = text.split(" ").map((word, at) => ({ text: word, start: start + at, end: start + at + 0.8 }));
  return { start, end: start + words.length, text, speaker, words: timed ? words : undefined } as Utterance;
};

test("only the words within the select are shown, with who says them", () => {
  const talk = [utterance("Ada", 0, "The boat leaves."), utterance("Ben", 3, "When does it leave?")];
  expect(spoken(talk, { start: 1, end: 5 })).toBe("Ada: boat leaves. Ben: When does");
  expect(spoken(talk, { start: 3, end: 4 })).toBe("Ben: When");
  expect(spoken(talk, { start: 30, end: 40 })).toBe("");
  expect(spoken([utterance(undefined, 0, "The boat leaves.", false)], { start: 1, end: 2 })).toBe(
    "The boat leaves.",
  );
});
