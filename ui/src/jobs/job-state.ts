// The state of a job.
import type { Job } from "../api/types";

export const isActive = (job: Job) => job.status === "queued" || job.status === "running";
/** Cancelled by a user. */
export const isCancelled = (job: Job) => job.error?.startsWith("Cancelled") ?? false;

/** Whether an ingest of a video that was stored already changed any of its results. */
export const changesResults = ({ dropped = [], aggregated }: NonNullable<Job["result"]>) =>
  dropped.length > 0 || !aggregated || !("ran" in aggregated) || aggregated.ran.length > 0;

/** Merges a job list with known jobs, because an event may have ended a job after the list was created. */
export function mergeJobs(known: Job[], listed: Job[]): Job[] {
  const ended = new Map(known.filter((job) => !isActive(job)).map((job) => [job.job_id, job]));
  return listed.map((job) => (isActive(job) && ended.get(job.job_id)) || job);
}
