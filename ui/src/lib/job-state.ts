// What a job says of itself.
import type { Job } from "./types";

export const unfinished = (job: Job) => job.status === "queued" || job.status === "running";
/** Ended by somebody's wish. */
export const cancelled = (job: Job) => job.error?.startsWith("Cancelled") ?? false;

/** The jobs of a list; an event may have shown one as ended while an older list was on its way. */
export function current(known: Job[], listed: Job[]): Job[] {
  const ended = new Map(known.filter((job) => !unfinished(job)).map((job) => [job.job_id, job]));
  return listed.map((job) => (unfinished(job) && ended.get(job.job_id)) || job);
}
