// Calls to the service.
import { m } from "../i18n/language.svelte";
import type { MetadataPatch, Span, Storyboard, VideoDetail } from "./types";

export class ApiError extends Error {
  /** `status` is 0 without a response. */
  constructor(
    public status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Called when the service requires sign-in. */
export const onUnauthorised = { call: () => {} };

const base = new URL(".", document.baseURI);
export const serviceUrl = (path: string) => new URL(path.replace(/^\//, ""), base);

/** The error of a failed call; status 0 means no response. */
export function apiError(status: number, body: { detail?: string } | null) {
  if (status === 401) onUnauthorised.call();
  if (!status) return new ApiError(0, m.errors.unreachable);
  return new ApiError(status, body?.detail ?? m.errors.status(status));
}

/** Calls the service; `json` is the body of a POST, or of the given method. */
export async function api<T>(path: string, init: RequestInit & { json?: unknown } = {}): Promise<T> {
  const { json, ...options } = init;
  if (json !== undefined) {
    options.method ??= "POST";
    options.headers = {
      ...(options.headers as Record<string, string>),
      "Content-Type": "application/json",
    };
    options.body = JSON.stringify(json);
  }
  let response: Response;
  try {
    response = await fetch(serviceUrl(path), { credentials: "same-origin", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw apiError(0, null);
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw apiError(response.status, body);
  return body as T;
}

/**
 * The URL of a stored object. A local service may be configured as 127.0.0.1 and opened as localhost, which
 * a browser treats as another site; the object is then requested from the page's own host.
 */
export function storedUrl(address: string | null | undefined): string {
  if (!address) return "";
  const url = new URL(address, base);
  // The development server proxies the service.
  if (import.meta.env.DEV) return location.origin + url.pathname + url.search;
  const loopback = (host: string) => ["localhost", "127.0.0.1", "[::1]"].includes(host);
  if (loopback(url.hostname) && loopback(location.hostname) && url.port === location.port) {
    return location.origin + url.pathname + url.search;
  }
  return url.href;
}

export const videoPath = (id: string) => `videos/${encodeURIComponent(id)}`;
/** Changes a video's metadata; absent fields stay, null removes. */
export const changeVideo = (id: string, json: { metadata?: MetadataPatch; collection?: string | null }) =>
  api<VideoDetail>(videoPath(id), { method: "PATCH", json });
/** Export URL of a video's log, or of a range with times starting at zero, as in a clip. */
export const exportUrl = (id: string, format: string, range?: Span) =>
  serviceUrl(
    `${videoPath(id)}/export?format=${format}${range ? `&start=${range.start}&end=${range.end}&from_zero=true` : ""}`,
  ).href;
export const clipUrl = (id: string, { start, end }: Span) =>
  serviceUrl(`${videoPath(id)}/clip?start=${start}&end=${end}`).href;
export const frameUrl = (id: string, t: number, width: number) =>
  serviceUrl(`${videoPath(id)}/frames?t=${t.toFixed(2)}&width=${width}`).href;
/** The frame at an exact time. */
export const exactFrameUrl = (id: string, t: number, width: number) =>
  serviceUrl(`${videoPath(id)}/frames?t=${t.toFixed(3)}&width=${width}`).href;
/** Image of a person, cropped from the frame that shows them best; `height` in pixels. */
export const personUrl = (id: string, entity: string, height: number) =>
  serviceUrl(`${videoPath(id)}/entities/${encodeURIComponent(entity)}/image?height=${height}`).href;
export const storyboardUrl = (id: string) => serviceUrl(`${videoPath(id)}/storyboard.jpg`).href;

const boards = new Map<string, Promise<Storyboard>>();

/** The storyboard of a video, cached. */
export function storyboard(id: string): Promise<Storyboard> {
  let board = boards.get(id);
  if (!board) {
    board = api<Storyboard>(`${videoPath(id)}/storyboard`);
    board.catch(() => boards.delete(id));
    boards.set(id, board);
  }
  return board;
}
