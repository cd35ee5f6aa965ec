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

/** A correction that gave somebody a name. */
export type Given = { of: string; to: string };

const key = (name: string) => name.trim().toLowerCase();

/** The corrections that rename a person in a video, in which the name may have another spelling. */
export function renamings(given: Given[], kinds: Iterable<Appearance["kind"]>, name: string, to: string) {
  return [...kinds].flatMap((kind) => {
    const of = kind === "speaking" ? "speaker" : "person";
    const last = given.findLast((one) => one.of === of && key(one.to) === key(name));
    return last ? [{ of, from: last.to, to }] : [];
  });
}
