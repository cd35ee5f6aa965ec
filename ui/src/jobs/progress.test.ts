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

  it("is said in words", () => {
    const analyzing = job({ stage: "analyzing", detail: { analyzer: "ocr", done: 3, total: 12 } });
    expect(stageLine(analyzing)).toMatch(/ · Ocr · 3 of 12 moments$/);
    expect(stageLine(job({ stage: "chunked", detail: { chunks: 2 } }))).toMatch(/ · 2 moments$/);
  });
});
