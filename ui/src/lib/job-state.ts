// What a job says of itself.
import type { Job } from "./types";

export const isActive = (job: Job) => job.status === "queued" || job.status === "running";
/** Ended by somebody's wish. */
export const isCancelled = (job: Job) => job.error?.startsWith("Cancelled") ?? false;

/** The jobs of a list; an event may have shown one as ended while an older list was on its way. */
export function mergeJobs(known: Job[], listed: Job[]): Job[] {
  const ended = new Map(known.filter((job) => !isActive(job)).map((job) => [job.job_id, job]));
  return listed.map((job) => (isActive(job) && ended.get(job.job_id)) || job);
}
