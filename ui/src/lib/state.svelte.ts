// What all pages share: the videos, the jobs, what this install has, and where the reader is.
import { address } from "./address.svelte";
import { api, videoPath } from "./api";
import type { Health, Job, Schema, Video } from "./types";

export const app = $state({
  ready: false,
  gate: false,
  mayLeave: false,
  schema: null as Schema | null,
  schemaError: "",
  health: null as Health | null,
  reachable: true,
  videos: null as Video[] | null,
  videosError: "",
  jobs: null as Job[] | null,
  jobsError: "",
  route: address,
  toast: "",
});

/** How to try again the jobs that this page started. */
export const retries = $state<Record<string, () => void>>({});

/** The names of videos, by id; of those that are not listed as soon as they are known. */
const names = $state<Record<string, string>>({});
const asked = new Set<string>();

/** What a video is called. Its id stands for its name until that is known. */
export function title(id: string): string {
  const listed = app.videos?.find((video) => video.video_id === id)?.filename ?? names[id];
  if (listed === undefined && app.videos && !asked.has(id)) void learnName(id);
  return listed ?? id;
}

async function learnName(id: string) {
  asked.add(id);
  const video = await api<Video>(videoPath(id)).catch(() => null);
  if (video) names[id] = video.filename;
}

export const message = (error: unknown) => (error instanceof Error ? error.message : String(error));

let toastTimer: ReturnType<typeof setTimeout>;
export function toast(text: string) {
  app.toast = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    app.toast = "";
  }, 7000);
}

/** Puts a link into the clipboard; `what` is what it leads to. */
export async function copyLink(to: string, what: string) {
  const url = new URL(to, location.href).href;
  try {
    await navigator.clipboard.writeText(url);
    toast(`The link to ${what} is in the clipboard.`);
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
    app.schemaError = message(error);
  }
}

export async function loadVideos() {
  try {
    app.videos = (await api<{ videos: Video[] }>("videos")).videos;
    app.videosError = "";
  } catch (error) {
    app.videosError = message(error);
  }
}
