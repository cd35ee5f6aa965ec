// What all pages share: the videos, the jobs, what this install has, and where the reader is.
import { address } from "./address.svelte";
import { api, ApiError, videoPath } from "./api";
import { m } from "./language.svelte";
import type { Health, Job, Schema, Video } from "./types";

/** Not watched one by one: there may be thousands. */
let videos = $state.raw<Video[] | null>(null);
/** Whether those are all. */
let complete = $state(false);

export const app = $state({
  ready: false,
  gate: false,
  mayLeave: false,
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
  toast: "",
});

/** How to try again the jobs that this page started. */
export const retries = $state<Record<string, () => void>>({});

/** Which job followed when one was tried again. */
export const successors = $state<Record<string, string>>({});

/** The names of videos, by id; of those that are not listed as soon as they are known. */
const names = $state<Record<string, string>>({});
const requestedNames = new Set<string>();

/** What a video is called. Its id stands for its name until that is known. */
export function videoTitle(id: string): string {
  const listed = app.videos?.find((video) => video.video_id === id)?.filename ?? names[id];
  if (listed === undefined && app.videos && !requestedNames.has(id)) void loadName(id);
  return listed ?? id;
}

async function loadName(id: string) {
  requestedNames.add(id);
  const video = await api<Video>(videoPath(id)).catch(() => null);
  if (video) names[id] = video.filename;
}

/** Videos that are not there. */
const deleted = $state<Record<string, boolean>>({});
/** The list after which each was last asked for. */
const checkedList = new Map<string, Video[]>();

/** Whether a video has been deleted, as far as that is known. */
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

/** Whether a video has no pictures, as sound has none. */
export const isAudioOnly = (video: Pick<Video, "poster_url"> & { frame_rate?: number }) =>
  video.poster_url === null && video.frame_rate === undefined;

/** The same of a video that may be listed. */
export function isListedAudioOnly(id: string): boolean {
  const video = app.videos?.find((one) => one.video_id === id);
  return video !== undefined && isAudioOnly(video);
}

export const errorMessage = (error: unknown) => (error instanceof Error ? error.message : String(error));

let toastTimer: ReturnType<typeof setTimeout>;
export function toast(text: string) {
  app.toast = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    app.toast = "";
  }, 5000);
}

/** Puts a link into the clipboard; `what` is what it leads to. */
export async function copyLink(to: string, what: string) {
  const url = new URL(to, location.href).href;
  try {
    await navigator.clipboard.writeText(url);
    toast(m.frame.linkCopied(what));
  } catch {
    // A page that is not served over https may not write there.
    toast(url);
  }
}

/** Learns what this install has; pages that need it wait for that, and are told when it fails. */
export async function loadSchema() {
  try {
    app.schema = await api<Schema>("schema");
    app.schemaError = "";
  } catch (error) {
    app.schemaError = errorMessage(error);
  }
}

/** Videos of the first page, which is there at once, and of those that follow. */
const FIRST_PAGE = 60;
const PAGE = 500;
let loading = 0;

type VideoPage = { videos: Video[]; total: number; next?: string };
const videoPage = (limit: number, cursor?: string) =>
  api<VideoPage>(`videos?limit=${limit}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);

/** Every video, page by page; what was shown before stays until all are there. */
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

/** Takes up what has changed: the newest videos, and those that are named. */
export async function refreshVideos(ids: string[] = []) {
  const before = app.videos;
  if (!before) return loadVideos();
  try {
    const { videos: newest, total } = await videoPage(FIRST_PAGE);
    const others = ids.filter((id) => !newest.some((video) => video.video_id === id));
    const named = await Promise.all(others.map((id) => api<Video>(`videos/${encodeURIComponent(id)}`)));
    const now = new Map([...newest, ...named].map((video) => [video.video_id, video]));
    const known = new Set(before.map((video) => video.video_id));
    const added = newest.filter((video) => !known.has(video.video_id));
    if (app.videos !== before || added.length + before.length !== total) return loadVideos();
    app.videos = [...added, ...before.map((video) => now.get(video.video_id) ?? video)];
  } catch {
    // The next look may fare better; what is shown stays.
  }
}
