// The queue of resumable uploads, sent one at a time. After a lost connection an upload resumes
// automatically; after a reload it resumes once the file is chosen again, because a browser does not keep
// it.
import type { DetailedError, Upload } from "tus-js-client";
import { ApiError, serviceUrl, onUnauthorised } from "../api/client";
import { ingest, type Options } from "./ingest";
import { m } from "../i18n/language.svelte";
import { errorMessage } from "../api/failure";
import { toast } from "../state/app.svelte";

/** `missing`: the page was reloaded and lost the file; `arrived`: uploaded, job not queued yet. */
export type UploadState = "waiting" | "sending" | "paused" | "missing" | "arrived" | "failed";

export type UploadEntry = {
  id: string;
  /** Id of the page that uploads it, so that two open pages do not both do so. */
  page: string;
  name: string;
  size: number;
  modified: number;
  options: Options;
  state: UploadState;
  /** The upload's URL at the service. */
  url: string | null;
  /** Bytes uploaded. */
  sent: number;
  /** Bytes per second while uploading. */
  speed: number;
  /** The error, or what it is waiting for. */
  note: string;
};

/** Request size in bytes; the service keeps partial requests. */
const CHUNK = 32 * 1024 * 1024;
/** Retry delays after a lost connection, in milliseconds: at once, then less often, for an hour. */
const RETRY_DELAYS = [0, 1000, 2000, 5000, ...Array<number>(240).fill(15_000)];
/** Retry delay for a service that cannot accept the job yet, in milliseconds. */
const INGEST_RETRY = 10_000;
const STORAGE_KEY = "shotlog.uploads";
/** Interval of this page's heartbeat, and when a page counts as closed, in milliseconds. */
const HEARTBEAT = 3000;
const HEARTBEAT_TIMEOUT = 15_000;

export const queue = $state<UploadEntry[]>([]);
/** Files selected but not added yet, and whether files are being dragged over the page. */
export const selection = $state<{ files: File[]; dragging: boolean }>({ files: [], dragging: false });
const files = new Map<string, File>();
const page = pageId();
/** `upload` is null while the library loads. */
let running: { entry: UploadEntry; upload: Upload | null } | null = null;

/** Loads the tus client, which the first render does not need. */
export const loadTus = () => import("tus-js-client");

/** Adds chosen or dropped files to the selection; files of interrupted uploads resume at once. */
export function selectFiles(given: File[]) {
  for (const file of given) {
    const known = (one: File) =>
      one.name === file.name && one.size === file.size && one.lastModified === file.lastModified;
    if (!resumeWith(file) && !selection.files.some(known)) selection.files.push(file);
  }
}

/** Appends files to the queue. */
export function enqueue(given: File[], options: Options) {
  for (const file of given) {
    const entry: UploadEntry = {
      ...{ id: crypto.getRandomValues(new Uint32Array(3)).join("-"), page, options, url: null, note: "" },
      ...{ name: file.name, size: file.size, modified: file.lastModified, sent: 0, speed: 0 },
      state: "waiting",
    };
    queue.push(entry);
    files.set(entry.id, file);
  }
  saveQueue();
  sendNext();
}

/** Resumes an upload interrupted by a reload if the file matches; returns whether it does. */
export function resumeWith(file: File): boolean {
  const fits = (entry: UploadEntry) =>
    entry.state === "missing" &&
    entry.name === file.name &&
    entry.size === file.size &&
    entry.modified === file.lastModified;
  const entry = queue.find(fits);
  if (!entry) return false;
  files.set(entry.id, file);
  setState(entry, "waiting");
  return true;
}

export function pause(entry: UploadEntry) {
  if (entry.state !== "sending" && entry.state !== "waiting") return;
  void stop(entry);
  setState(entry, "paused");
}

/** Resumes a paused or failed upload. */
export function resume(entry: UploadEntry) {
  if (entry.url && entry.sent === entry.size) {
    setState(entry, "arrived");
    void startIngest(entry);
  } else setState(entry, files.has(entry.id) ? "waiting" : "missing");
}

export async function remove(entry: UploadEntry) {
  const { url } = entry;
  await stop(entry);
  queue.splice(queue.indexOf(entry), 1);
  files.delete(entry.id);
  saveQueue();
  sendNext();
  // The service expires uploads that cannot be removed now.
  if (!url) return;
  const over = loadTus().then(({ Upload }) => Upload.terminate(url, { retryDelays: [0, 1000, 5000] }));
  await over.catch(() => {});
}

/** Moves an entry one place up (-1) or down (1). */
export function move(entry: UploadEntry, by: -1 | 1) {
  const from = queue.indexOf(entry);
  const to = from + by;
  if (to < 0 || to >= queue.length) return;
  [queue[from], queue[to]] = [queue[to], queue[from]];
  saveQueue();
}

/** Restores the uploads that were active when the page was closed. */
export function restoreUploads() {
  for (const { seen, ...entry } of Object.values(loadQueue())) {
    if (entry.page !== page && Date.now() - seen < HEARTBEAT_TIMEOUT) continue;
    const state = entry.state === "arrived" || entry.state === "failed" ? entry.state : "missing";
    queue.push({ ...entry, page, state, speed: 0, note: state === "failed" ? entry.note : "" });
  }
  saveQueue();
  for (const entry of queue) if (entry.state === "arrived") void startIngest(entry);
  setInterval(() => queue.length && saveQueue(), HEARTBEAT);
}

function setState(entry: UploadEntry, state: UploadState, note = "") {
  entry.state = state;
  entry.note = note;
  entry.speed = 0;
  saveQueue();
  sendNext();
}

function sendNext() {
  if (running) return;
  const entry = queue.find((one) => one.state === "waiting");
  const file = entry && files.get(entry.id);
  if (entry && file) void send(entry, file);
}

async function stop(entry: UploadEntry) {
  if (running?.entry !== entry) return;
  const { upload } = running;
  running = null;
  await upload?.abort().catch(() => {});
}

async function send(entry: UploadEntry, file: File) {
  const turn: typeof running = { entry, upload: null };
  running = turn;
  entry.state = "sending";
  const tus = await loadTus().catch(() => null);
  if (running !== turn) return;
  if (!tus) {
    running = null;
    fail(entry, m.uploads.unreachable);
    return;
  }
  let last: { time: number; sent: number } | null = null;
  const upload = new tus.Upload(file, {
    endpoint: serviceUrl("uploads").href,
    uploadUrl: entry.url,
    metadata: { filename: file.name },
    chunkSize: CHUNK,
    retryDelays: RETRY_DELAYS,
    // The queue stores the upload URLs itself.
    storeFingerprintForResuming: false,
    onUploadUrlAvailable() {
      entry.url = upload.url;
      saveQueue();
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
      // 409: the service is still storing the interrupted request.
      if (!isTransient(status(error)) && status(error) !== 409) return false;
      entry.note = m.uploads.reconnecting;
      entry.speed = 0;
      last = null;
      return true;
    },
    onError(error) {
      if (running?.upload !== upload) return;
      running = null;
      fail(entry, reason(error));
    },
    onSuccess() {
      if (running?.upload !== upload) return;
      running = null;
      entry.sent = entry.size;
      setState(entry, "arrived");
      void startIngest(entry);
    },
  });
  turn.upload = upload;
  upload.start();
}

/** Starts the ingest of a completed upload. */
async function startIngest(entry: UploadEntry) {
  const id = entry.url?.split("/").at(-1) ?? "";
  try {
    await ingest({ upload_id: id }, entry.options);
    queue.splice(queue.indexOf(entry), 1);
    files.delete(entry.id);
    saveQueue();
  } catch (error) {
    const known = error instanceof ApiError ? error.status : -1;
    if (isTransient(known)) {
      entry.note = m.uploads.retrying(errorMessage(error));
      setTimeout(
        () => queue.includes(entry) && entry.state === "arrived" && startIngest(entry),
        INGEST_RETRY,
      );
      return;
    }
    // The upload has expired and must be sent again.
    if (known === 404) Object.assign(entry, { url: null, sent: 0 });
    fail(entry, errorMessage(error));
  }
}

function fail(entry: UploadEntry, why: string) {
  setState(entry, "failed", why);
  toast(m.uploads.notAdded(entry.name, why));
}

/** Whether a retry may succeed; 0 means no response. */
const isTransient = (code: number) => code === 0 || code === 408 || code >= 500;

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

type StoredQueue = Record<string, UploadEntry & { seen: number }>;

function loadQueue(): StoredQueue {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
  } catch {
    return {};
  }
}

/** Saves the queue, keeping the entries of other pages. */
function saveQueue() {
  const others = Object.entries(loadQueue()).filter(
    ([id, { page: other }]) => other !== page && !queue.some((entry) => entry.id === id),
  );
  const seen = Date.now();
  const own = queue.map((entry) => [entry.id, { ...entry, seen }] as const);
  try {
    // An empty queue leaves nothing in storage.
    if (own.length) sessionStorage.setItem(STORAGE_KEY, page);
    if (own.length + others.length)
      localStorage.setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries([...others, ...own])));
    else localStorage.removeItem(STORAGE_KEY);
  } catch {
    // Without storage, uploads do not survive a reload.
  }
}

/** An id that survives a reload, but not the tab. */
function pageId(): string {
  const fresh = () => crypto.getRandomValues(new Uint32Array(2)).join("-");
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? fresh();
  } catch {
    return fresh();
  }
}
