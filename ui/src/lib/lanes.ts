// The timeline's lanes, made of what is stored of a video.
import { capital, named } from "./format";
import { m, number } from "./language.svelte";
import { textOf, type VideoLog } from "./log.svelte";
import type { Span } from "./types";
import { waveOf, type Wave } from "./wave";

/** `colour` is an index into the palette of app.css; `level` is 0..1. */
export type Item = Span & { label: string; colour: number; level?: number };
export type Lane = {
  /** By which it is remembered. */
  id: string;
  name: string;
  kind: "spans" | "marks" | "levels" | "wave";
  /** In order of their start; they may overlap. */
  items: Item[];
  /** The latest end of the items up to each, which never falls and so can be searched. */
  reach: number[];
  /** Of a wave. */
  wave?: Wave;
};
type Drawn = Omit<Lane, "reach">;

const NEUTRAL = 6;
const MOOD: Record<string, number> = { positive: 3, negative: 5 };
const OBJECT_LANES = 4;

/** `split` is a way to split the video that is being tried. */
export function lanesOf(log: VideoLog, split: Span[]): Lane[] {
  const { chapters, events, sentiment, novelty } = log.aggregates;
  const ranked = novelty?.ranked ?? [];
  const most = Math.max(...ranked.map((one) => one.novelty), 1e-9);
  const names = m.timeline.names;
  const lanes: Drawn[] = [
    spans("chapters", names.chapters, chapters?.chapters ?? [], (one, index) => ({
      label: one.title,
      colour: index % 2 ? 8 : 7,
    })),
    spans("moments", names.moments, log.chunks, (one, index) => ({
      label: textOf(one),
      colour: index % 2 ? 9 : NEUTRAL,
    })),
    spans("tried", names.preview, split, (_, index) => ({
      label: m.timeline.moment(index + 1),
      colour: index % 2 ? 8 : 7,
    })),
    {
      id: "cuts",
      name: names.cuts,
      kind: "marks",
      items: log.cuts.map((t) => ({ start: t, end: t, label: m.timeline.cut, colour: 4 })),
    },
    spans("speech", log.speakers.join("") ? names.speakers : names.speech, log.speech, (turn) => ({
      label: [turn.speaker, turn.text].filter(Boolean).join(": "),
      colour: log.speakerColour(turn.speaker),
    })),
    {
      id: "people",
      name: names.people,
      kind: "spans",
      items: log.people.flatMap((one, index) =>
        (one.timeline?.spans ?? [[one.first_seen, one.last_seen]]).map(([start, end]) => ({
          start,
          end,
          label: one.description,
          colour: index,
        })),
      ),
    },
    ...(log.peaks
      ? [{ id: "sound", name: names.sound, kind: "wave" as const, items: [], wave: waveOf(log.peaks) }]
      : []),
    screenLane(log),
    ...objectLanes(log),
    {
      id: "events",
      name: names.events,
      kind: "marks",
      items: (events?.events ?? []).map((one) => ({
        start: one.start,
        end: one.end,
        label: one.event,
        colour: 0,
      })),
    },
    spans("sentiment", names.sentiment, sentiment?.timeline ?? [], (one) => ({
      label: named(m.panels.moods, one.dominant),
      colour: MOOD[one.dominant] ?? NEUTRAL,
    })),
    {
      id: "novelty",
      name: names.novelty,
      kind: "levels",
      items: ranked.map((one) => ({
        start: one.start,
        end: one.end,
        label: m.timeline.novelty(number(one.novelty, 2, true)),
        colour: 1,
        level: one.novelty / most,
      })),
    },
  ];
  return lanes.filter((lane) => lane.items.length || lane.wave).map(searchable);
}

/** What was found in a video, as a lane; none where nothing was. */
export function hitLane(log: VideoLog, hits: Span[]): Lane[] {
  const label = ({ start }: Span) => {
    const chunk = log.chunks[log.chunkAt(start)];
    return chunk ? textOf(chunk) : "";
  };
  const lane = spans("hits", m.timeline.names.hits, hits, (one) => ({ label: label(one), colour: 0 }));
  return hits.length ? [searchable(lane)] : [];
}
function searchable(lane: Drawn): Lane {
  const items = lane.items.toSorted((a, b) => a.start - b.start);
  let latest = -Infinity;
  return { ...lane, items, reach: items.map((item) => (latest = Math.max(latest, item.end))) };
}

function spans<T extends Span>(
  id: string,
  name: string,
  all: T[],
  look: (one: T, index: number) => { label: string; colour: number },
): Drawn {
  const items = all.map((one, index) => ({ start: one.start, end: one.end, ...look(one, index) }));
  return { id, name, kind: "spans", items };
}

/** What is read on screen, and when. */
function screenLane(log: VideoLog): Drawn {
  const items = log.chunks.flatMap((chunk) =>
    (chunk.ocr?.texts ?? []).map(({ text = "", first_seen, last_seen }) => ({
      start: first_seen ?? chunk.start,
      end: last_seen ?? chunk.end,
      label: text,
      colour: 4,
    })),
  );
  return { id: "screen", name: m.timeline.names.screen, kind: "spans", items };
}

/** One lane for each of the labels that are seen in most chunks. */
function objectLanes(log: VideoLog): Drawn[] {
  const byLabel = new Map<string, Item[]>();
  for (const chunk of log.chunks) {
    for (const { label, first_seen, last_seen } of chunk.object_detection?.detections ?? []) {
      // People have a lane of their own, which tells them apart.
      if (!label || (label === "person" && log.people.length)) continue;
      const items = byLabel.get(label) ?? [];
      items.push({
        start: first_seen ?? chunk.start,
        end: last_seen ?? chunk.end,
        label: capital(label),
        colour: 2,
      });
      byLabel.set(label, items);
    }
  }
  return [...byLabel]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, OBJECT_LANES)
    .map(([label, items]) => ({ id: `object ${label}`, name: capital(label), kind: "spans", items }));
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

/** The item of a lane at `t`, give or take `slack` seconds; of several the one that starts last. */
export function itemAt(lane: Lane, t: number, slack: number): Item | undefined {
  let found: Item | undefined;
  for (let index = firstReaching(lane, t - slack); index < lane.items.length; index += 1) {
    const item = lane.items[index];
    if (item.start - slack > t) break;
    if (item.end + slack >= t) found = item;
  }
  return found;
}
