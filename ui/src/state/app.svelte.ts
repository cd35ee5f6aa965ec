// State shared by all pages: videos, jobs, the service's schema, and the address.
import { address } from "./address.svelte";
import { loadPreference } from "../browser/preferences";
import { api, ApiError, changeVideo, videoPath } from "../api/client";
import { errorMessage } from "../api/failure";
import { TITLE, titleOf } from "./metadata";
import { m } from "../i18n/language.svelte";
import { setServiceLabels } from "../i18n/service-labels.svelte";
import type { Health, Job, Schema, Video, VideoDetail } from "../api/types";

/** A link or a button in a toast. Ctrl+Z activates the one with `undo`. */
export type ToastAction = { text: string; href?: string; run?: () => void; undo?: boolean };

/** The author of what is written here, if the access token has no name: the last name that was entered. */
export const authorName = () => (app.userName ? "" : loadPreference("author", "").trim()) || null;

/** Raw state, because there may be thousands. */
let videos = $state.raw<Video[] | null>(null);
/** Whether all videos are loaded. */
let complete = $state(false);

export const app = $state({
  ready: false,
  signInRequired: false,
  canSignOut: false,
  /** Whether nobody needs a token. */
  openToAll: false,
  schema: null as Schema | null,
  schemaError: "",
  health: null as Health | null,
  reachable: true,
  get videos() {
    return videos;
  },
  set videos(list: Video[] | null) {
    videos = list;
  },
  videosError: "",
  jobs: null as Job[] | null,
  jobsError: "",
  route: address,
  /** Whether the access token may only read. */
  readOnly: false,
  /** The name of the access token; empty if it has none. */
  userName: "",
  toast: "",
  toastActions: [] as ToastAction[],
});

/** Retry actions by job id, for jobs started in this browser. */
export const retries = $state<Record<string, () => void>>({});

/** The retry of each job, by job id. */
export const successors = $state<Record<string, string>>({});

/** Names of videos that are not in the list, by id. */
const names = $state<Record<string, string>>({});
const requestedNames = new Set<string>();

/** A video's title, or `fallback` until the title is loaded. */
export function videoTitle(id: string, fallback = id): string {
  const video = app.videos?.find((one) => one.video_id === id);
  const listed = video ? titleOf(video) : names[id];
  if (listed === undefined && app.videos && !requestedNames.has(id)) void loadName(id);
  return listed ?? fallback;
}

async function loadName(id: string) {
  requestedNames.add(id);
  const video = await api<Video>(videoPath(id)).catch(() => null);
  if (video) names[id] = titleOf(video);
}

/** Adds the listed videos whose title contains a text to those that the service found by their file name. */
export function withTitled(part: string, found: Video[]): Video[] {
  const query = part.trim().toLowerCase();
  const isFound = new Set(found.map(({ video_id }) => video_id));
  const matches = (one: Video) => !isFound.has(one.video_id) && titleOf(one).toLowerCase().includes(query);
  return query ? [...(app.videos ?? []).filter(matches), ...found] : found;
}

/** Shows a video's changed metadata everywhere. */
export function updateListed({ video_id, filename, metadata, collection }: Video) {
  names[video_id] = titleOf({ filename, metadata });
  app.videos =
    app.videos?.map((one) => (one.video_id === video_id ? { ...one, metadata, collection } : one)) ?? null;
}

/** Changes a video's title. Without one, the video is called by its file name. */
export async function changeTitle({ video_id, filename }: Video, title: string): Promise<VideoDetail> {
  const value = title && title !== filename ? title : null;
  const video = await changeVideo(video_id, { metadata: { [TITLE]: value } });
  updateListed(video);
  return video;
}

/** Videos known to be deleted. */
const deleted = $state<Record<string, boolean>>({});
/** The list for which each id was last checked. */
const checkedList = new Map<string, Video[]>();

/** Whether a video is known to be deleted. */
export function isDeleted(id: string): boolean {
  const listed = app.videos;
  if (!listed || !complete || listed.some((video) => video.video_id === id)) return false;
  if (!deleted[id] && checkedList.get(id) !== listed) {
    checkedList.set(id, listed);
    api<Video>(videoPath(id)).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) deleted[id] = true;
    });
  }
  return deleted[id] ?? false;
}

/** Whether a video is audio only. */
export const isAudioOnly = (video: Pick<Video, "poster_url"> & { frame_rate?: number }) =>
  video.poster_url === null && video.frame_rate === undefined;

/** What a file may have no track of. */
export type Medium = "picture" | "sound";
/** Kinds of analyzers that need a picture. */
const PICTURE_KINDS = ["people_in_view", "objects", "screen_text"];

/** What an analyzer needs; undefined if it works with a picture or sound alone. */
export function needOf(analyzer: string): Medium | undefined {
  const kind = app.schema?.presentation.analyzers.find(({ id }) => id === analyzer)?.kind ?? "";
  return kind === "speech" ? "sound" : PICTURE_KINDS.includes(kind) ? "picture" : undefined;
}

/** Whether a video is known to have no picture, or no sound. */
export const lacks = (video: Pick<Video, "poster_url" | "has_sound">, medium?: Medium) =>
  medium === "sound" ? video.has_sound === false : medium === "picture" && isAudioOnly(video);

/** Whether a listed video is audio only. */
export function isListedAudioOnly(id: string): boolean {
  const video = app.videos?.find((one) => one.video_id === id);
  return video !== undefined && isAudioOnly(video);
}

/** How long a toast stays, and one with actions, in milliseconds. */
const TOAST_TIME = 5000;
const ACTION_TIME = 12_000;
let toastTimer: ReturnType<typeof setTimeout>;
let toasts = 0;

/** Shows a toast. Returns a function that closes it, unless another one has replaced it. */
export function toast(text: string, actions: ToastAction[] = []): () => void {
  const turn = ++toasts;
  app.toast = text;
  app.toastActions = actions;
  releaseToast();
  return () => turn === toasts && closeToast();
}

export function closeToast() {
  app.toast = "";
  app.toastActions = [];
}

/** Keeps the toast until it is released, so that its actions can be used without haste. */
export const holdToast = () => clearTimeout(toastTimer);

export function releaseToast() {
  clearTimeout(toastTimer);
  toastTimer = setTimeout(closeToast, app.toastActions.length ? ACTION_TIME : TOAST_TIME);
}

/** Copies a link to the clipboard; `what` describes its target. */
export async function copyLink(to: string, what: string) {
  const url = new URL(to, location.href).href;
  try {
    await navigator.clipboard.writeText(url);
    toast(m.frame.linkCopied(what));
  } catch {
    // The clipboard is not available without https.
    toast(url);
  }
}

/** Loads the service's schema; pages wait for it and show an error if it fails. */
export async function loadSchema() {
  try {
    const schema = await api<Schema>("schema");
    const { analyzers, aggregators } = schema.presentation;
    setServiceLabels([...analyzers, ...aggregators]);
    app.schema = schema;
    app.schemaError = "";
  } catch (error) {
    app.schemaError = errorMessage(error);
  }
}

/** Size of the first page, which loads fast and which `index.html` preloads, and of the following ones. */
const FIRST_PAGE = 60;
const PAGE = 500;
let loading = 0;

type VideoPage = { videos: Video[]; total: number; next?: string };
const videoPage = (limit: number, cursor?: string) =>
  api<VideoPage>(`videos?limit=${limit}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);

/** Loads all videos page by page; the previous list stays until all are loaded. */
export async function loadVideos() {
  loading += 1;
  const turn = loading;
  const first = !app.videos;
  try {
    let page = await videoPage(FIRST_PAGE);
    const all = page.videos;
    while (turn === loading) {
      if (first || !page.next) app.videos = [...all];
      app.videosError = "";
      if (!page.next) {
        complete = true;
        return;
      }
      page = await videoPage(PAGE, page.next);
      all.push(...page.videos);
    }
  } catch (error) {
    if (turn === loading) app.videosError = errorMessage(error);
  }
}

/** The ids of all videos. */
export async function allVideoIds(): Promise<string[]> {
  if (!complete) await loadVideos();
  return (app.videos ?? []).map(({ video_id }) => video_id);
}

/** Refreshes the newest videos and those in `ids`. */
export async function refreshVideos(ids: string[] = []) {
  const previous = app.videos;
  if (!previous) return loadVideos();
  try {
    const { videos: newest, total } = await videoPage(FIRST_PAGE);
    const others = ids.filter((id) => !newest.some((video) => video.video_id === id));
    const named = await Promise.all(others.map((id) => api<Video>(`videos/${encodeURIComponent(id)}`)));
    const now = new Map([...newest, ...named].map((video) => [video.video_id, video]));
    const known = new Set(previous.map((video) => video.video_id));
    const added = newest.filter((video) => !known.has(video.video_id));
    if (app.videos !== previous || added.length + previous.length !== total) return loadVideos();
    app.videos = [...added, ...previous.map((video) => now.get(video.video_id) ?? video)];
  } catch {
    // The list stays until the next refresh.
  }
}
