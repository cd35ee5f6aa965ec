import { describe, expect, it } from "vitest";
import { currentStep, stageLine, stepsDone } from "./progress";
import type { Job } from "../api/types";

const job = (more: Partial<Job>) => ({ status: "running", stage: "starting", detail: {}, ...more }) as Job;

describe("the progress of a job", () => {
  it("is nothing while it waits, at any stage", () => {
    const queued = job({ status: "queued" });
    expect([currentStep(queued), stepsDone(queued)]).toEqual([-1, 0]);
  });

  it("is the part of the current step that is done", () => {
    expect(stepsDone(job({ stage: "fetching" }))).toBe(0.5);
    expect(stepsDone(job({ stage: "analyzing", detail: { done: 3, total: 12 } }))).toBe(2.25);
    expect(stepsDone(job({ stage: "aggregating" }))).toBe(3.5);
  });

  it("never falls", () => {
    const run = (analyzers_done: number) => {
      const detail = { analyzer: "ocr", analyzers: 3, analyzers_done };
      const analyzing = (done: number) => job({ stage: "analyzing", detail: { ...detail, done, total: 4 } });
      return [analyzing(0), analyzing(2), analyzing(4), job({ stage: "indexing", detail })];
    };
    const all = [
      job({ stage: "starting" }),
      job({ stage: "fetching" }),
      job({ stage: "chunking" }),
      job({ stage: "chunking", detail: { recogniser: "base", done: 0, total: 9 } }),
      job({ stage: "chunking", detail: { recogniser: "base", done: 9, total: 9 } }),
      job({ stage: "chunked", detail: { chunks: 4 } }),
      ...[0, 1, 2].flatMap(run),
      job({ stage: "aggregating" }),
    ].map(stepsDone);
    expect(all).toEqual(all.toSorted((a, b) => a - b));
    expect(all.at(-2)).toBe(3);
  });

  it("is said in words", () => {
    const analyzing = job({ stage: "analyzing", detail: { analyzer: "ocr", done: 3, total: 12 } });
    expect(stageLine(analyzing)).toMatch(/ · Ocr · 3 of 12 moments$/);
    expect(stageLine(job({ stage: "chunked", detail: { chunks: 2 } }))).toMatch(/ · 2 moments$/);
  });
});
