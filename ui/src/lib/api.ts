// Calls to the service. The types come from its OpenAPI document.
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Video = Schemas["Video"];
export type VideoDetail = Schemas["VideoDetail"];
export type Schema = Schemas["Schema"];
export type Health = Schemas["Health"];
export type Storyboard = Schemas["Storyboard"];
export type Preview = Schemas["Preview"];
export type Turn = Schemas["Turn"];
export type Job = Omit<Schemas["Job"], "detail" | "result"> & {
  detail: { chunks?: number; analyzer?: string; aggregator?: string; traceback?: string };
  result: { video_id?: string; filename?: string; video_url?: string } | null;
};
export type Box = { t: number; box: [number, number, number, number]; confidence?: number };
export type Seen = {
  label?: string;
  text?: string;
  person?: string;
  description?: string;
  first_seen?: number;
  last_seen?: number;
  locations?: Box[];
};
export type Chunk = {
  chunk_id: number;
  start: number;
  end: number;
  timecode: string;
  default_video?: {
    description: string;
    setting: string;
    people: string[];
    objects: string[];
    actions: string[];
    tags: string[];
  };
  transcript?: { text: string; segments: { start: number; end: number; text: string }[] };
  diarization?: { turns: Turn[]; speakers: string[] };
  object_detection?: { objects: string[]; detections: Seen[] };
  ocr?: { text: string; texts: Seen[] };
  people?: { people: Seen[]; people_count: number };
};
export type Hit = {
  video_id: string;
  chunk_id: number;
  start: number;
  end: number;
  score: number;
  text_score?: number | null;
  p_present?: number | null;
  snippet?: string;
  description?: string;
  people?: string[];
  objects?: string[];
  actions?: string[];
  tags?: string[];
  turns?: Turn[];
};
export type Found = { answer?: string | null; results: Hit[]; diagnostics?: unknown };
export type Asked = {
  answer?: string | null;
  error?: string;
  sources: Record<string, Record<string, unknown>>;
  results: Hit[];
  audit?: unknown;
};
export type Span = { start: number; end: number };
export type Aggregates = {
  summary?: {
    summary: string;
    key_points: string[];
    topics: string[];
    tiers: { level: number; section_count: number; sections: (Span & { summary: string })[] }[];
  };
  chapters?: { chapters: (Span & { title: string; summary: string })[] };
  events?: { events: (Span & { event: string; actor: string; category: string })[] };
  stats?: {
    people?: { series: (Span & { people_count: number })[] };
    objects?: { most_common: [string, number][] };
  };
  novelty?: {
    ranked: (Span & { chunk_id: number; novelty: number })[];
    outliers: (Span & { chunk_id: number })[];
  };
  speaker_stats?: {
    speakers: { speaker: string; seconds: number; turns: number; share: number }[];
    timeline: (Span & { speaker: string })[];
  };
  sentiment?: {
    timeline: (Span & {
      speaker?: string;
      positive: number;
      negative: number;
      neutral: number;
      dominant: string;
    })[];
    note?: string;
    dominant?: string;
  };
  ner?: { entities: { text: string; label: string; count: number }[] };
  object_entities?: {
    objects: {
      entity_id: string;
      label: string;
      appearances: number;
      first_seen: number;
      last_seen: number;
      description?: string;
      narrative?: string;
    }[];
  };
};
export type Entity = Schemas["Entity"];

export class ApiError extends Error {
  constructor(
    public status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Called when the service asks for a sign-in. */
export const onUnauthorised = { call: () => {} };

const base = new URL(".", document.baseURI);
export const at = (path: string) => new URL(path.replace(/^\//, ""), base);

function failure(status: number, body: { detail?: string } | null) {
  if (status === 401) onUnauthorised.call();
  return new ApiError(status, body?.detail ?? `The service answered ${status}.`);
}

export async function api<T>(path: string, init: RequestInit & { json?: unknown } = {}): Promise<T> {
  const { json, ...options } = init;
  if (json !== undefined) {
    options.method = "POST";
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(json);
  }
  let response: Response;
  try {
    response = await fetch(at(path), { credentials: "same-origin", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, "The service cannot be reached. It may be stopped, or the network is down.");
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw failure(response.status, body);
  return body as T;
}

/** XMLHttpRequest, because fetch does not tell how much has been sent. */
export function upload(
  form: FormData,
  progress: (part: number) => void,
): Promise<{ job_id: string; source: string }> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", at("videos"));
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(request.response);
      else reject(failure(request.status, request.response));
    });
    request.addEventListener("error", () => reject(new ApiError(0, "The upload was interrupted.")));
    request.send(form);
  });
}

/**
 * A service on the same machine may be configured as 127.0.0.1 and opened as localhost, which a
 * browser treats as another site: stored objects are then asked for under the page's own name.
 */
export function stored(address: string | null | undefined): string {
  if (!address) return "";
  const url = new URL(address, base);
  const loopback = (host: string) => ["localhost", "127.0.0.1", "[::1]"].includes(host);
  if (loopback(url.hostname) && loopback(location.hostname) && url.port === location.port) {
    return location.origin + url.pathname + url.search;
  }
  return url.href;
}

const video = (id: string) => `videos/${encodeURIComponent(id)}`;
export const videoPath = video;
export const frame = (id: string, t: number, width: number) =>
  at(`${video(id)}/frames?t=${t.toFixed(2)}&width=${width}`).href;
export const sheet = (id: string) => at(`${video(id)}/storyboard.jpg`).href;

const boards = new Map<string, Promise<Storyboard>>();
/** The storyboard of a video, asked for once. */
export function storyboard(id: string): Promise<Storyboard> {
  let board = boards.get(id);
  if (!board) {
    board = api<Storyboard>(`${video(id)}/storyboard`);
    board.catch(() => boards.delete(id));
    boards.set(id, board);
  }
  return board;
}

let paths: Promise<Set<string>> | undefined;
/** Whether this install has a route, so that what it lacks is not offered. */
export async function has(path: string): Promise<boolean> {
  paths ??= api<{ paths: Record<string, unknown> }>("openapi.json").then(
    (document) => new Set(Object.keys(document.paths)),
    () => new Set(),
  );
  return (await paths).has(path);
}
