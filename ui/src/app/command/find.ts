// Finds videos, bins and people by name for the command field.
import { listBins } from "../../bins/api";
import { api } from "../../api/client";
import { titleOf } from "../../state/metadata";
import { roundedClock } from "../../i18n/format";
import { m } from "../../i18n/language.svelte";
import { loadChoices, valuesQuery } from "../../search/values";
import { link, videoLink } from "../../state/address.svelte";
import { withTitled } from "../../state/app.svelte";
import type { Bin, PeopleList, Schema, Video } from "../../api/types";
import { rank, type Option } from "./options";

/** The filter with the speakers. */
const SPEAKERS = "speakers";
/** Most options of a group. */
const MOST = 5;
/** Most bins that are loaded to find one by its name. */
const MOST_BINS = 200;

export const videoOption = (video: Video): Option => ({
  group: "videos",
  text: titleOf(video),
  hint: roundedClock(video.duration),
  href: videoLink(video.video_id),
});

const binOption = ({ bin_id, name }: Bin): Option => ({
  group: "bins",
  text: name,
  href: link("bins", {}, bin_id),
});

async function findVideos(typed: string, signal: AbortSignal): Promise<Option[]> {
  const query = new URLSearchParams({ limit: String(MOST), filename: typed });
  const { videos } = await api<{ videos: Video[] }>(`videos?${query}`, { signal });
  return withTitled(typed, videos).slice(0, MOST).map(videoOption);
}

async function findPeople(typed: string, signal: AbortSignal): Promise<Option[]> {
  const { people } = await api<PeopleList>(
    `people?${new URLSearchParams({ limit: String(MOST), text: typed })}`,
    {
      signal,
    },
  );
  return people.map(({ name, videos }) => ({
    group: "speakers",
    text: name,
    hint: m.count.videos(videos),
    href: link("persons", {}, name),
  }));
}

async function findSpeakers(typed: string, schema: Schema | null, signal: AbortSignal): Promise<Option[]> {
  if (!(SPEAKERS in (schema?.filters ?? {}))) return [];
  const query = valuesQuery(SPEAKERS, typed, { video: [], analyzer: "", filters: {} }, schema);
  const choices = await loadChoices(query, signal);
  return choices.slice(0, MOST).map(({ value, count }) => ({
    group: "speakers",
    text: value,
    hint: count,
    href: link("search", { filters: { [SPEAKERS]: [value] } }),
  }));
}

/** Finds videos, bins and people by name. The bins are loaded once. */
export function finder(schema: Schema | null) {
  let bins: Promise<Option[]> | undefined;
  const loadBins = () => (bins ??= listBins("changed", MOST_BINS).then((list) => list.bins.map(binOption)));
  return async (typed: string, signal: AbortSignal): Promise<Option[]> => {
    const found = await Promise.allSettled([
      findVideos(typed, signal),
      loadBins().then((all) => rank(all, typed).slice(0, MOST)),
      findPeople(typed, signal),
      findSpeakers(typed, schema, signal),
    ]);
    // A source that fails, for example without permission, has no options.
    const options = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    // A speaker with a name is also a person.
    return options.filter(
      ({ group, text }, at) =>
        options.findIndex((other) => other.group === group && other.text === text) === at ||
        group !== "speakers",
    );
  };
}
