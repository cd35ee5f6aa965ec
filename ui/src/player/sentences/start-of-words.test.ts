import { describe, expect, it } from "vitest";
import { startOfWords } from "./start-of-words";

const sentences = [
  { start: 8, end: 12, text: "We sail." },
  { start: 12, end: 15, text: "The harbour is near." },
  { start: 15, end: 19, text: "Red boats leave the harbour." },
  { start: 31, end: 34, text: "A red boat." },
];
const start = (query: string, span = { start: 10, end: 30 }) => startOfWords(span, query, sentences);

describe("the start of the words of a search", () => {
  it("is shortly before the sentence with the most of them", () => {
    expect(start("a red boat in the harbour")).toBe(14.5);
    expect(start("harbour")).toBe(11.5);
    expect(start("sail")).toBe(7.5);
  });

  it("is the start of the moment if no sentence has half of them", () => {
    expect(start("plane")).toBe(10);
    expect(start("the")).toBe(10);
    expect(start("a yellow plane above the harbour wall")).toBe(10);
    expect(start("red boat", { start: 0, end: 5 })).toBe(0);
    expect(startOfWords({ start: 3, end: 4 }, "boat", [])).toBe(3);
  });

  it("is not before the video", () => {
    expect(startOfWords({ start: 0, end: 9 }, "boat", [{ start: 0.2, end: 1, text: "A boat." }])).toBe(0);
  });
});
