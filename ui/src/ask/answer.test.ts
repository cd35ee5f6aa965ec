import { describe, expect, it } from "vitest";
import { citedHits, plainTextAnswer, otherHits } from "./answer";
import { quotedWords, withResultNames } from "./citations";
import type { AskResponse, Hit } from "../api/types";

const ID = "00c0ffee00c0ffee";
const hit = (start: number, p_present?: number) =>
  ({ video_id: ID, start, end: start + 5, p_present }) as Hit;

describe("an answer", () => {
  const results = [hit(0, 0.9), hit(5, 0.02), hit(10, 0.4)];

  it("lists its citations once, in order", () => {
    const answer = `B [${ID} 10-15s]. A [${ID} 0-5s]. Again [${ID} 10-15s]. Else [${ID} 20-30s].`;
    const reply = { answer, answered: true, results } as Parameters<typeof citedHits>[0];
    expect(citedHits(reply)).toEqual([results[2], results[0], { video_id: ID, start: 20, end: 30 }]);
    expect(otherHits(reply)).toEqual([]);
  });

  it("has no citations if it is a refusal, and omits improbable moments", () => {
    const reply = { answer: "No moment answers this question.", answered: false, results };
    expect(citedHits(reply as never)).toEqual([]);
    expect(otherHits(reply as never)).toEqual([results[0], results[2]]);
  });

  it("lists at most three moments with a refusal", () => {
    const many = [0, 5, 10, 15, 20].map((start) => hit(start, 0.4));
    const reply = { answer: "No moment answers this question.", answered: false, results: many };
    expect(otherHits(reply as never)).toEqual(many.slice(0, 3));
    const answered = { answer: `A [${ID} 0-5s].`, answered: true, results: many };
    expect(otherHits(answered as never)).toEqual(many.slice(1));
  });

  it("names aggregators, not their ids", () => {
    expect(withResultNames("No. These results may say more: object_entities, stats. End")).toBe(
      "No. These results may say more: Object entities and Stats. End",
    );
    expect(withResultNames("A boat leaves.")).toBe("A boat leaves.");
  });

  it("plays a quotation from its words", () => {
    expect(quotedWords("S1: “The ferry waits.” “It is foggy.”")).toBe("The ferry waits.");
    expect(quotedWords("A boat leaves.")).toBe("");
  });

  it("is copied with each source once", () => {
    const answer = "A boat leaves [x 1-2]. It is big [y 3.5-4s]. It is red [x 1-2].";
    const text = plainTextAnswer(
      { question: "What?", answer } as AskResponse,
      (id) => `${id}.mp4`,
      (id, t) => `#${id}@${t}`,
    );
    expect(text).toBe(
      "What?\n\nA boat leaves [1]. It is big [2]. It is red [1].\n\n[1] x.mp4, 1–2 s: #x@1\n[2] y.mp4, 3.5–4 s: #y@3.5",
    );
  });
});
