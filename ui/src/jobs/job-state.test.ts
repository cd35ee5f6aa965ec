import { expect, it } from "vitest";
import { mergeJobs } from "./job-state";
import type { Job } from "../api/types";

const job = (job_id: string, status: Job["status"]) => ({ job_id, status }) as Job;

it("keeps a job ended that an older list shows as running", () => {
  const known = [job("a", "done"), job("b", "running")];
  const listed = [job("a", "running"), job("b", "failed"), job("c", "queued")];
  expect(mergeJobs(known, listed)).toEqual([job("a", "done"), job("b", "failed"), job("c", "queued")]);
});
