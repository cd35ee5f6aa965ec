// The timeline's lanes, built from a video's log.
import { capitalize, displayName, translate } from "../../i18n/format";
import { m, number } from "../../i18n/language.svelte";
import { isRecord, outputText, plainText, trackItems, type TimedItem } from "../../api/outputs";
import type { VideoLog } from "../log/log.svelte";
import type { Presentation, Span, Track, TrackLane } from "../../api/types";
import { normalizeWave, type Wave } from "./waveform";

/** `colour` is an index into the palette of app.css; `level` is 0..1. */
export type Item = Span & { label: string; colour: number; level?: number };
export type Lane = {
  /** Key under which its order and visibility are saved. */
  id: string;
  name: string;
  kind: "spans" | "marks" | "levels" | "wave";
  /** Sorted by start; they may overlap. */
  items: Item[];
  /** The latest end up to each item; it is monotonic, for binary search. */
  reach: number[];
  /** For `kind: "wave"`. */
  wave?: Wave;
};
/** Lanes are sorted by rank, lowest first. */
type LaneSpec = Omit<Lane, "reach"> & { rank: number };
type LaneTrack = Track & { lane: TrackLane };

const NEUTRAL = 6;
const MOOD: Record<string, number> = { positive: 3, negative: 5 };
const KIND_COLOURS: Record<string, number> = { screen_text: 4, objects: 2 };
const OBJECT_LANES = 4;
/** The rank of lanes for outputs without a lane in the schema. */
const OWN_RANK = 200;

/** `split` is the split being previewed. */
export function buildLanes(log: VideoLog, split: Span[]): Lane[] {
  const lanes = [
    ...pageLanes(log, split),
    ...log.analyzers.flatMap((shown) => analyzerLanes(log, shown)),
    ...log.aggregators.flatMap((shown) => aggregatorLanes(log, shown)),
  ].filter((lane) => lane.items.length || lane.wave);
  return mergeLanes(lanes)
    .toSorted((a, b) => a.rank - b.rank)
    .map(withReach);
}

/** The lanes that do not depend on an analyzer or aggregator. */
function pageLanes(log: VideoLog, split: Span[]): LaneSpec[] {
  const names = m.timeline.names;
  const lanes: LaneSpec[] = [
    spanLane("moments", names.moments, 10, log.chunks, (one, index) => ({
      label: log.textOf(one),
      colour: index % 2 ? 9 : NEUTRAL,
    })),
    spanLane("tried", names.preview, 20, split, (_, index) => ({
      label: m.timeline.moment(index + 1),
      colour: index % 2 ? 8 : 7,
    })),
    {
      id: "comments",
      name: m.video.tabs.comments,
      rank: 25,
      kind: "marks",
      items: log.comments.map(({ start, author, text }) => ({
        start,
        end: start,
        label: `${author}: ${text}`,
        colour: 5,
      })),
    },
    {
      id: "cuts",
      name: names.cuts,
      rank: 30,
      kind: "marks",
      items: log.cuts.map((t) => ({ start: t, end: t, label: m.timeline.cut, colour: 4 })),
    },
  ];
  if (log.peaks) {
    const wave = normalizeWave(log.peaks);
    lanes.push({ id: "sound", name: names.sound, rank: 60, kind: "wave", items: [], wave });
  }
  return lanes;
}

const hasLane = (track: Track): track is LaneTrack => Boolean(track.lane);

/** The lanes of an analyzer: those of its tracks, or its text for each chunk. */
function analyzerLanes(log: VideoLog, shown: Presentation): LaneSpec[] {
  const { id, kind } = shown;
  const tracks = shown.tracks.filter(hasLane);
  if (!tracks.length) return kind === "rows" ? [textLane(log, shown)] : [];
  // Several analyzers share the lane of speech; each chunk has that of one.
  const chunks = log.chunks.filter((chunk) => kind !== "speech" || log.speechOf(chunk)?.id === id);
  return tracks.flatMap((track) => {
    const items = chunks.flatMap((chunk) => trackItems(chunk[id], track, chunk));
    return kind === "objects" ? labelLanes(log, track, items) : [trackLane(log, shown, track, items)];
  });
}

/** The lanes of an aggregator: those of its tracks, or the moments in its result. */
function aggregatorLanes(log: VideoLog, shown: Presentation): LaneSpec[] {
  const { id, kind } = shown;
  const tracks = shown.tracks.filter(hasLane);
  if (kind === "linked_people") return tracks.map(({ lane }) => peopleLane(log, lane));
  if (!tracks.length) return kind === "rows" ? [momentLane(log, shown)] : [];
  return tracks.map((track) =>
    trackLane(log, shown, track, trackItems(log.aggregates[id], track, log.whole)),
  );
}

function trackLane(log: VideoLog, { kind }: Presentation, { lane }: LaneTrack, items: TimedItem[]): LaneSpec {
  const { id, label, form, rank, max } = lane;
  const name = translate(label);
  const highest = Math.max(...items.map(({ value }) => value), 1e-9);
  const style = (item: TimedItem, index: number) => {
    if (form === "moods")
      return { label: displayName(m.panels.moods, item.label), colour: MOOD[item.label] ?? NEUTRAL };
    if (form === "marks") return { label: item.label, colour: 0 };
    if (form === "levels") {
      const value = number(item.value, 2, true);
      const text = max ? m.timeline.levelOf(name, value, number(max)) : m.timeline.level(name, value);
      return { label: text, colour: 1, level: item.value / highest };
    }
    const text = [item.speaker, item.label].filter(Boolean).join(": ");
    if (kind === "speech") return { label: text, colour: log.speakerColour(item.speaker) };
    return { label: text, colour: KIND_COLOURS[kind] ?? (index % 2 ? 8 : 7) };
  };
  const drawn = form === "marks" || form === "levels" ? form : "spans";
  return { ...spanLane(id, name, rank, items, style), kind: drawn };
}

/** Linked people over time. */
function peopleLane(log: VideoLog, { id, label, rank }: TrackLane): LaneSpec {
  const items = log.linkedPeople.flatMap((one, index) =>
    (one.timeline?.spans ?? [[one.first_seen, one.last_seen]]).map(([start, end]) => ({
      start,
      end,
      label: one.description,
      colour: index,
    })),
  );
  return { id, name: translate(label), rank, kind: "spans", items };
}

/** One lane for each of the most frequent labels. */
function labelLanes(log: VideoLog, { lane }: LaneTrack, items: TimedItem[]): LaneSpec[] {
  const byLabel = new Map<string, TimedItem[]>();
  for (const item of items) {
    // The people lane shows individuals.
    if (!item.label || (item.label === "person" && log.linkedPeople.length)) continue;
    const same = byLabel.get(item.label);
    if (same) same.push(item);
    else byLabel.set(item.label, [item]);
  }
  return [...byLabel]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, OBJECT_LANES)
    .map(([label, all]) => {
      const style = { label: capitalize(label), colour: KIND_COLOURS.objects };
      return spanLane(`${lane.id} ${label}`, capitalize(label), lane.rank, all, () => style);
    });
}

/** The text of an analyzer for each chunk that it has an output for. */
function textLane(log: VideoLog, shown: Presentation): LaneSpec {
  const chunks = log.chunks.filter((chunk) => isRecord(chunk[shown.id]));
  return spanLane(`analyzer ${shown.id}`, translate(shown.label), OWN_RANK, chunks, (chunk, index) => ({
    label: outputText(chunk[shown.id], shown),
    colour: index % 2 ? 9 : NEUTRAL,
  }));
}

/** The moments in a result of any shape. */
function momentLane(log: VideoLog, shown: Presentation): LaneSpec {
  const moments = momentsIn(log.aggregates[shown.id]);
  return spanLane(
    `aggregator ${shown.id}`,
    translate(shown.label),
    OWN_RANK,
    moments,
    ({ label }, index) => ({
      label,
      colour: index % 2 ? 8 : 7,
    }),
  );
}

/** The fields of a moment that are its time. */
const TIME_FIELDS = ["chunk_id", "moment_id", "start", "end", "timecode"];

/** The objects with a start within a value, each with its other fields as text. */
function momentsIn(value: unknown): (Span & { label: string })[] {
  if (Array.isArray(value)) return value.flatMap(momentsIn);
  if (!isRecord(value)) return [];
  const { start, end } = value;
  if (typeof start !== "number") return Object.values(value).flatMap(momentsIn);
  const others = Object.entries(value).filter(([field]) => !TIME_FIELDS.includes(field));
  return [
    { start, end: typeof end === "number" ? end : start, label: plainText(Object.fromEntries(others)) },
  ];
}

/** Joins the items of lanes with the same id; the first names the lane. */
function mergeLanes(lanes: LaneSpec[]): LaneSpec[] {
  const merged = new Map<string, LaneSpec>();
  for (const lane of lanes) {
    const first = merged.get(lane.id);
    merged.set(lane.id, first ? { ...first, items: [...first.items, ...lane.items] } : lane);
  }
  return [...merged.values()];
}

/** The lane of the search results in a video, if there are any. */
export function hitLane(log: VideoLog, hits: Span[]): Lane[] {
  const label = ({ start }: Span) => {
    const chunk = log.chunks[log.chunkAt(start)];
    return chunk ? log.textOf(chunk) : "";
  };
  const lane = spanLane("hits", m.timeline.names.hits, 0, hits, (one) => ({ label: label(one), colour: 0 }));
  return hits.length ? [withReach(lane)] : [];
}
function withReach(lane: LaneSpec): Lane {
  const items = lane.items.toSorted((a, b) => a.start - b.start);
  let latest = -Infinity;
  return { ...lane, items, reach: items.map((item) => (latest = Math.max(latest, item.end))) };
}

function spanLane<T extends Span>(
  id: string,
  name: string,
  rank: number,
  all: T[],
  style: (one: T, index: number) => { label: string; colour: number },
): LaneSpec {
  const items = all.map((one, index) => ({ start: one.start, end: one.end, ...style(one, index) }));
  return { id, name, rank, kind: "spans", items };
}

/** Index of the first item that may reach `t`. */
export function firstReaching({ reach }: Lane, t: number): number {
  let [low, high] = [0, reach.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reach[middle] < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The item at `t` within `slack` seconds; the latest start wins. */
export function itemAt(lane: Lane, t: number, slack: number): Item | undefined {
  let found: Item | undefined;
  for (let index = firstReaching(lane, t - slack); index < lane.items.length; index += 1) {
    const item = lane.items[index];
    if (item.start - slack > t) break;
    if (item.end + slack >= t) found = item;
  }
  return found;
}
