// The files that are on their way to the service, one after the other. They go on where they were cut off:
// after a lost connection by themselves, after the page was closed once the file is chosen again, since a
// browser does not keep it.
import type { DetailedError, Upload } from "tus-js-client";
import { ApiError, at, onUnauthorised } from "./api";
import { ingest, type Options } from "./ingest";
import { m } from "./language.svelte";
import { message, toast } from "./state.svelte";

/** `missing`: the browser has forgotten the file; `arrived`: it is there, and its job is not yet queued. */
export type UploadState = "waiting" | "sending" | "paused" | "missing" | "arrived" | "failed";

export type Entry = {
  id: string;
  /** The page that sends it, so that two open ones do not both do so. */
  page: string;
  name: string;
  size: number;
  modified: number;
  options: Options;
  state: UploadState;
  /** Where the service keeps it. */
  url: string | null;
  /** Bytes that are there. */
  sent: number;
  /** Bytes a second, while it is sent. */
  speed: number;
  /** What went wrong, or what it waits for. */
  note: string;
};

/** Bytes that are sent at a time; what comes of them before a cut is kept. */
const CHUNK = 32 * 1024 * 1024;
/** Milliseconds until a lost connection is tried again: at once, then less often, for an hour. */
const RETRIES = [0, 1000, 2000, 5000, ...Array<number>(240).fill(15_000)];
/** Milliseconds until a service that has no room for the job is asked again. */
const BUSY = 10_000;
const KEPT = "shotlog.uploads";
/** Milliseconds between two notes that this page is still there, and until it is taken for gone. */
const ALIVE = 3000;
const GONE = 15_000;

export const queue = $state<Entry[]>([]);
/** What was chosen and is not added yet, and whether files are being dragged over the page. */
export const chosen = $state<{ files: File[]; over: boolean }>({ files: [], over: false });
const files = new Map<string, File>();
const page = pageId();
/** The upload is null as long as what sends it is on its way. */
let running: { entry: Entry; upload: Upload | null } | null = null;

/** What sends files; it comes behind the page, since nothing is sent in its first moments. */
export const sender = () => import("tus-js-client");

/** Takes in what is chosen or dropped; what was on its way before goes on at once. */
export function take(given: File[]) {
  for (const file of given) {
    const known = (one: File) =>
      one.name === file.name && one.size === file.size && one.lastModified === file.lastModified;
    if (!resumes(file) && !chosen.files.some(known)) chosen.files.push(file);
  }
}

/** Puts files at the end of the queue. */
export function enqueue(given: File[], options: Options) {
  for (const file of given) {
    const entry: Entry = {
      ...{ id: crypto.getRandomValues(new Uint32Array(3)).join("-"), page, options, url: null, note: "" },
      ...{ name: file.name, size: file.size, modified: file.lastModified, sent: 0, speed: 0 },
      state: "waiting",
    };
    queue.push(entry);
    files.set(entry.id, file);
  }
  keep();
  next();
}

/** Whether a file was on its way before the page was loaded anew; then it goes on. */
export function resumes(file: File): boolean {
  const fits = (entry: Entry) =>
    entry.state === "missing" &&
    entry.name === file.name &&
    entry.size === file.size &&
    entry.modified === file.lastModified;
  const entry = queue.find(fits);
  if (!entry) return false;
  files.set(entry.id, file);
  change(entry, "waiting");
  return true;
}

export function pause(entry: Entry) {
  if (entry.state !== "sending" && entry.state !== "waiting") return;
  void stop(entry);
  change(entry, "paused");
}

/** Goes on with what was paused or has failed. */
export function goOn(entry: Entry) {
  if (entry.url && entry.sent === entry.size) {
    change(entry, "arrived");
    void begin(entry);
  } else change(entry, files.has(entry.id) ? "waiting" : "missing");
}

export async function drop(entry: Entry) {
  const { url } = entry;
  await stop(entry);
  queue.splice(queue.indexOf(entry), 1);
  files.delete(entry.id);
  keep();
  next();
  // What cannot be removed now is removed by the service after a while.
  if (!url) return;
  const over = sender().then(({ Upload }) => Upload.terminate(url, { retryDelays: [0, 1000, 5000] }));
  await over.catch(() => {});
}

/** Moves an entry one place up (-1) or down (1). */
export function move(entry: Entry, by: -1 | 1) {
  const from = queue.indexOf(entry);
  const to = from + by;
  if (to < 0 || to >= queue.length) return;
  [queue[from], queue[to]] = [queue[to], queue[from]];
  keep();
}

/** Takes up what this browser was sending when the page was left. */
export function recallUploads() {
  for (const { seen, ...entry } of Object.values(kept())) {
    if (entry.page !== page && Date.now() - seen < GONE) continue;
    const state = entry.state === "arrived" || entry.state === "failed" ? entry.state : "missing";
    queue.push({ ...entry, page, state, speed: 0, note: state === "failed" ? entry.note : "" });
  }
  keep();
  for (const entry of queue) if (entry.state === "arrived") void begin(entry);
  setInterval(() => queue.length && keep(), ALIVE);
}

function change(entry: Entry, state: UploadState, note = "") {
  entry.state = state;
  entry.note = note;
  entry.speed = 0;
  keep();
  next();
}

function next() {
  if (running) return;
  const entry = queue.find((one) => one.state === "waiting");
  const file = entry && files.get(entry.id);
  if (entry && file) void send(entry, file);
}

async function stop(entry: Entry) {
  if (running?.entry !== entry) return;
  const { upload } = running;
  running = null;
  await upload?.abort().catch(() => {});
}

async function send(entry: Entry, file: File) {
  const turn: typeof running = { entry, upload: null };
  running = turn;
  entry.state = "sending";
  const tus = await sender().catch(() => null);
  if (running !== turn) return;
  if (!tus) {
    running = null;
    refuse(entry, m.uploads.unreachable);
    return;
  }
  let last: { time: number; sent: number } | null = null;
  const upload = new tus.Upload(file, {
    endpoint: at("uploads").href,
    uploadUrl: entry.url,
    metadata: { filename: file.name },
    chunkSize: CHUNK,
    retryDelays: RETRIES,
    // The queue itself remembers where each is kept.
    storeFingerprintForResuming: false,
    onUploadUrlAvailable() {
      entry.url = upload.url;
      keep();
    },
    onProgress(sent) {
      if (running?.upload !== upload) return;
      const time = performance.now();
      if (last && time > last.time && sent >= last.sent) {
        const speed = ((sent - last.sent) / (time - last.time)) * 1000;
        entry.speed = entry.speed ? 0.9 * entry.speed + 0.1 * speed : speed;
      }
      last = { time, sent };
      entry.sent = sent;
      entry.note = "";
    },
    onShouldRetry(error) {
      // 409: what came of the request that was cut off is only being stored.
      if (!passes(status(error)) && status(error) !== 409) return false;
      entry.note = m.uploads.reconnecting;
      entry.speed = 0;
      last = null;
      return true;
    },
    onError(error) {
      if (running?.upload !== upload) return;
      running = null;
      refuse(entry, reason(error));
    },
    onSuccess() {
      if (running?.upload !== upload) return;
      running = null;
      entry.sent = entry.size;
      change(entry, "arrived");
      void begin(entry);
    },
  });
  turn.upload = upload;
  upload.start();
}

/** Has an upload that has arrived taken in. */
async function begin(entry: Entry) {
  const id = entry.url?.split("/").at(-1) ?? "";
  try {
    await ingest({ upload_id: id }, entry.options);
    queue.splice(queue.indexOf(entry), 1);
    files.delete(entry.id);
    keep();
  } catch (error) {
    const known = error instanceof ApiError ? error.status : -1;
    if (passes(known)) {
      entry.note = m.uploads.retrying(message(error));
      setTimeout(() => queue.includes(entry) && entry.state === "arrived" && begin(entry), BUSY);
      return;
    }
    // Kept no longer: it has to be sent again.
    if (known === 404) Object.assign(entry, { url: null, sent: 0 });
    refuse(entry, message(error));
  }
}

function refuse(entry: Entry, why: string) {
  change(entry, "failed", why);
  toast(m.uploads.notAdded(entry.name, why));
}

/** Whether the next try may be answered otherwise; 0 where nothing answered. */
const passes = (code: number) => code === 0 || code === 408 || code >= 500;

const status = (error: Error | DetailedError) =>
  ("originalResponse" in error && error.originalResponse?.getStatus()) || 0;

function reason(error: Error | DetailedError): string {
  if (status(error) === 401) onUnauthorised.call();
  const body = "originalResponse" in error ? error.originalResponse?.getBody() : "";
  try {
    return (JSON.parse(body ?? "") as { detail: string }).detail;
  } catch {
    return status(error) ? m.uploads.status(status(error)) : m.uploads.unreachable;
  }
}

type Kept = Record<string, Entry & { seen: number }>;

function kept(): Kept {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

/** Notes the queue down, beside those of other pages. */
function keep() {
  const others = Object.entries(kept()).filter(
    ([id, { page: other }]) => other !== page && !queue.some((entry) => entry.id === id),
  );
  const seen = Date.now();
  const own = queue.map((entry) => [entry.id, { ...entry, seen }] as const);
  try {
    // Nothing is left behind where nothing is on its way.
    if (own.length) sessionStorage.setItem(KEPT, page);
    if (own.length + others.length)
      localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries([...others, ...own])));
    else localStorage.removeItem(KEPT);
  } catch {
    // A browser that keeps nothing sends the files until the page is left.
  }
}

/** A name that outlives a reload, but not the tab. */
function pageId(): string {
  const fresh = () => crypto.getRandomValues(new Uint32Array(2)).join("-");
  try {
    return sessionStorage.getItem(KEPT) ?? fresh();
  } catch {
    return fresh();
  }
}
