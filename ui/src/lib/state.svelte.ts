// What all pages share: the videos, the jobs, what this install has, and where the reader is.
import { api } from "./api";
import type { Health, Job, Schema, Video } from "./types";

/** A file on its way to the service. */
export type Upload = { name: string; percent: number; line: string };

export const app = $state({
  ready: false,
  gate: false,
  mayLeave: false,
  schema: null as Schema | null,
  health: null as Health | null,
  reachable: true,
  videos: null as Video[] | null,
  videosError: "",
  jobs: null as Job[] | null,
  jobsError: "",
  route: { page: "", id: "", t: null as number | null, q: "", video: "", url: "" },
  toast: "",
});

/** How to try again the jobs that this page started. */
export const retries = $state<Record<string, () => void>>({});
export const uploads = $state<Upload[]>([]);

export const title = (id: string) => app.videos?.find((video) => video.video_id === id)?.filename ?? id;
export const message = (error: unknown) => (error instanceof Error ? error.message : String(error));

let toastTimer: ReturnType<typeof setTimeout>;
export function toast(text: string) {
  app.toast = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    app.toast = "";
  }, 7000);
}

export function readRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", id = ""] = path.split("/");
  const parameters = new URLSearchParams(query);
  const t = parameters.get("t");
  let decoded = id;
  try {
    decoded = decodeURIComponent(id);
  } catch {
    /* shown as it stands: no video has that id */
  }
  app.route = {
    page: page === "video" ? "videos" : page,
    id: decoded,
    t: t === null || Number.isNaN(Number(t)) ? null : Number(t),
    q: parameters.get("q") ?? "",
    video: parameters.get("video") ?? "",
    url: parameters.get("url") ?? "",
  };
}

export async function loadVideos() {
  try {
    app.videos = (await api<{ videos: Video[] }>("videos")).videos;
    app.videosError = "";
  } catch (error) {
    app.videosError = message(error);
  }
}
