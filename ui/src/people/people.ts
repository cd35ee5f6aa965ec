// What the pages of people show about a person.
import { clock } from "../i18n/format";
import { m } from "../i18n/language.svelte";
import type { Appearance, Person } from "../api/types";

/** The time for which a person is visible and speaks; both at least a second if there is any. */
export function durations({ seconds_visible, seconds_speaking }: Person): string[] {
  const time = (seconds: number) => clock(Math.max(1, Math.round(seconds)));
  return [
    seconds_visible ? m.persons.visibleFor(time(seconds_visible)) : "",
    seconds_speaking ? m.persons.speaksFor(time(seconds_speaking)) : "",
  ].filter(Boolean);
}

/** The appearances in each video; those in a video follow one another. */
export function byVideo(appearances: Appearance[]): Appearance[][] {
  const videos: Appearance[][] = [];
  for (const one of appearances) {
    const last = videos.at(-1);
    if (last?.[0].video_id === one.video_id) last.push(one);
    else videos.push([one]);
  }
  return videos;
}
