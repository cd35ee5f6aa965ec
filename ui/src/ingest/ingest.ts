// Starts the ingest of a video from a URL or a completed upload, and stores how to retry it. Retries
// survive reloads, because the service keeps an upload for a while when its job fails.
import { api } from "../api/client";
import { loadJobs, videosBefore } from "../jobs/jobs";
import { errorMessage } from "../api/failure";
import { app, retries, successors, toast } from "../state/app.svelte";
import type { IngestAccepted } from "../api/types";

export type Options = Record<string, string | number>;
export type Source = { url: string } | { upload_id: string };
/** How a job was started, and the job that it retries. */
type StartedJob = { source: Source; options: Options; before?: string };

/** Local storage key of the jobs started in this browser. */
const STORAGE_KEY = "shotlog.started";
/** Maximum number of stored jobs. */
const MAX_STARTED = 100;

/** Starts an ingest; throws the service's errors. `before` is the job that this retries. */
export async function ingest(source: Source, options: Options, before?: string): Promise<void> {
  const listed = (before && videosBefore.get(before)) || app.videos || [];
  const accepted = await submit(source, options);
  videosBefore.set(accepted.job_id, listed);
  if (before) successors[before] = accepted.job_id;
  const started = { ...loadStarted(), [accepted.job_id]: { source, options, before } };
  saveStarted(Object.fromEntries(Object.entries(started).slice(-MAX_STARTED)));
  offerRetry(accepted.job_id, source, options);
  await loadJobs();
}

function submit(source: Source, options: Options): Promise<IngestAccepted> {
  if ("url" in source) return api("videos/url", { json: { ...source, ...options } });
  const body = new FormData();
  for (const [key, value] of Object.entries({ ...source, ...options })) body.append(key, String(value));
  return api("videos", { method: "POST", body });
}

function offerRetry(id: string, source: Source, options: Options) {
  retries[id] = () => {
    delete retries[id];
    ingest(source, options, id).catch((reason) => {
      offerRetry(id, source, options);
      toast(errorMessage(reason));
    });
  };
}

/** Forgets how to retry a job, so that a failed one leaves the list of running jobs. */
export function dismissRetry(id: string) {
  delete retries[id];
  const { [id]: _, ...others } = loadStarted();
  saveStarted(others);
}

/** Restores the retries of jobs that were started before a reload. */
export function restoreRetries() {
  const started = Object.entries(loadStarted());
  for (const [id, { before }] of started) if (before) successors[before] = id;
  for (const [id, { source, options }] of started) if (!successors[id]) offerRetry(id, source, options);
}

function loadStarted(): Record<string, StartedJob> {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
  } catch {
    return {};
  }
}

function saveStarted(started: object) {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(started));
  } catch {
    // Without storage, retries do not survive the page.
  }
}
