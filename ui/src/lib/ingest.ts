// Has the service take a video in, from an address or from an upload that has arrived, and remembers how
// to do so again: over reloads too, since an upload stays for a while when its job fails.
import { api } from "./api";
import { loadJobs } from "./jobs";
import { message, retries, successors, toast } from "./state.svelte";
import type { IngestAccepted } from "./types";

export type Options = Record<string, string | number>;
export type Source = { url: string } | { upload_id: string };
/** How a job was started, and which it tries again. */
type Started = { source: Source; options: Options; before?: string };

/** Where the jobs are remembered that this browser has started. */
const STARTED = "shotlog.started";
/** Jobs that are remembered. */
const MOST = 100;

/** Throws what the service refuses. `before` is the job that this tries again. */
export async function ingest(source: Source, options: Options, before?: string): Promise<void> {
  const accepted = await ask(source, options);
  if (before) successors[before] = accepted.job_id;
  const started = { ...remembered(), [accepted.job_id]: { source, options, before } };
  remember(Object.fromEntries(Object.entries(started).slice(-MOST)));
  offer(accepted.job_id, source, options);
  await loadJobs();
}

function ask(source: Source, options: Options): Promise<IngestAccepted> {
  if ("url" in source) return api("videos/url", { json: { ...source, ...options } });
  const body = new FormData();
  for (const [key, value] of Object.entries({ ...source, ...options })) body.append(key, String(value));
  return api("videos", { method: "POST", body });
}

function offer(id: string, source: Source, options: Options) {
  retries[id] = () => {
    delete retries[id];
    ingest(source, options, id).catch((reason) => {
      offer(id, source, options);
      toast(message(reason));
    });
  };
}

/** Offers the jobs again that were started before the page was loaded anew. */
export function recall() {
  const started = Object.entries(remembered());
  for (const [id, { before }] of started) if (before) successors[before] = id;
  for (const [id, { source, options }] of started) if (!successors[id]) offer(id, source, options);
}

function remembered(): Record<string, Started> {
  try {
    return JSON.parse(localStorage.getItem(STARTED) ?? "{}");
  } catch {
    return {};
  }
}

function remember(started: object) {
  try {
    localStorage.setItem(STARTED, JSON.stringify(started));
  } catch {
    // A browser that keeps nothing offers the jobs again until the page is left.
  }
}
