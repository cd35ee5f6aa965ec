import { expect, it } from "vitest";
import { changesResults, mergeJobs } from "./job-state";
import type { Job } from "../api/types";

const job = (job_id: string, status: Job["status"]) => ({ job_id, status }) as Job;

it("keeps a job ended that an older list shows as running", () => {
  const known = [job("a", "done"), job("b", "running")];
  const listed = [job("a", "running"), job("b", "failed"), job("c", "queued")];
  expect(mergeJobs(known, listed)).toEqual([job("a", "done"), job("b", "failed"), job("c", "queued")]);
});

it("knows whether an ingest changed the results of a video", () => {
  const aggregated = (ran: string[]) => ({ ran, reused: ["stats"], aggregates: ["stats"] });
  expect(changesResults({ aggregated: aggregated([]) })).toBe(false);
  expect(changesResults({ aggregated: aggregated(["stats"]) })).toBe(true);
  expect(changesResults({ aggregated: aggregated([]), dropped: ["ocr"] })).toBe(true);
  expect(changesResults({ aggregated: { error: "Timeout: no answer" } })).toBe(true);
});
