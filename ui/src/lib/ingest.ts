// Has the service take a video in, from an address or from an upload that has arrived, and remembers how
// to do so again: over reloads too, since an upload stays for a while when its job fails.
import { api } from "./api";
import { loadJobs } from "./jobs";
import { errorMessage, retries, successors, toast } from "./state.svelte";
import type { IngestAccepted } from "./types";

export type Options = Record<string, string | number>;
export type Source = { url: string } | { upload_id: string };
/** How a job was started, and which it tries again. */
type StartedJob = { source: Source; options: Options; before?: string };

/** Where the jobs are remembered that this browser has started. */
const STORAGE_KEY = "shotlog.started";
/** Jobs that are remembered. */
const MAX_STARTED = 100;

/** Throws what the service refuses. `before` is the job that this tries again. */
export async function ingest(source: Source, options: Options, before?: string): Promise<void> {
  const accepted = await submit(source, options);
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

/** Offers the jobs again that were started before the page was loaded anew. */
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
    // A browser that keeps nothing offers the jobs again until the page is left.
  }
}
