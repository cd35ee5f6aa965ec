import { expect, it } from "vitest";
import { expandToSentences } from "./quote";

const sentences = [
  { start: 4, end: 11, text: "The ferry is late." },
  { start: 12, end: 15, text: "It rains." },
  { start: 17.5, end: 23.25, text: "We leave at six." },
];
const span = { start: 10, end: 20 };

it("extends the span to the whole quote", () => {
  expect(expandToSentences(span, "It rains. We leave at six.", sentences)).toEqual({ start: 10, end: 23.25 });
  expect(expandToSentences(span, "The ferry is late. It rains.", sentences)).toEqual({ start: 4, end: 20 });
});

it("keeps a span that cuts no sentence of the text", () => {
  expect(expandToSentences(span, "It rains.", sentences)).toEqual(span);
  expect(expandToSentences(span, "A man at a desk.", sentences)).toEqual(span);
  expect(expandToSentences({ start: 30, end: 40 }, "We leave at six.", sentences)).toEqual({
    start: 30,
    end: 40,
  });
  expect(expandToSentences(span, "", [{ start: 0, end: 50, text: " " }])).toEqual(span);
});
