// Renames a person in every video in which they have the name.
import { api, videoPath } from "../api/client";
import type { Appearance, PersonPage } from "../api/types";
import { renamings, type Given } from "./people";

const correctionsPath = (video: string) => `${videoPath(video)}/corrections`;

/** How the person appears in each video: on screen, speaking, or both. */
async function videosOf(name: string): Promise<Map<string, Set<Appearance["kind"]>>> {
  const videos = new Map<string, Set<Appearance["kind"]>>();
  let next = "";
  do {
    const query = new URLSearchParams({ limit: "500", ...(next ? { cursor: next } : {}) });
    const page = await api<PersonPage>(`people/${encodeURIComponent(name)}?${query}`);
    for (const { video_id, kind } of page.appearances)
      videos.set(video_id, (videos.get(video_id) ?? new Set()).add(kind));
    next = page.next ?? "";
  } while (next);
  return videos;
}

/** Renames a person video by video. Returns the number of videos. */
export async function renamePerson(name: string, to: string): Promise<number> {
  const videos = await videosOf(name);
  for (const [id, kinds] of videos) {
    const { corrections } = await api<{ corrections: Given[] }>(correctionsPath(id));
    const made = renamings(corrections, kinds, name, to);
    if (made.length) await api(correctionsPath(id), { json: { corrections: made } });
  }
  return videos.size;
}
