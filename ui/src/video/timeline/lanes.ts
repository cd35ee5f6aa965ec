// The timeline's lanes, built from a video's log.
import { capitalize, displayName } from "../../i18n/format";
import { m, number } from "../../i18n/language.svelte";
import { chunkText, type VideoLog } from "../log/log.svelte";
import type { Span } from "../../api/types";
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
type LaneSpec = Omit<Lane, "reach">;

const NEUTRAL = 6;
const MOOD: Record<string, number> = { positive: 3, negative: 5 };
const OBJECT_LANES = 4;

/** `split` is the split being previewed. */
export function buildLanes(log: VideoLog, split: Span[]): Lane[] {
  const { chapters, events, sentiment, novelty } = log.aggregates;
  const ranked = novelty?.ranked ?? [];
  const maxNovelty = Math.max(...ranked.map((one) => one.novelty), 1e-9);
  const names = m.timeline.names;
  const lanes: LaneSpec[] = [
    spanLane("chapters", names.chapters, chapters?.chapters ?? [], (one, index) => ({
      label: one.title,
      colour: index % 2 ? 8 : 7,
    })),
    spanLane("moments", names.moments, log.chunks, (one, index) => ({
      label: chunkText(one),
      colour: index % 2 ? 9 : NEUTRAL,
    })),
    spanLane("tried", names.preview, split, (_, index) => ({
      label: m.timeline.moment(index + 1),
      colour: index % 2 ? 8 : 7,
    })),
    {
      id: "cuts",
      name: names.cuts,
      kind: "marks",
      items: log.cuts.map((t) => ({ start: t, end: t, label: m.timeline.cut, colour: 4 })),
    },
    spanLane("speech", log.speakers.join("") ? names.speakers : names.speech, log.speech, (turn) => ({
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
      ? [{ id: "sound", name: names.sound, kind: "wave" as const, items: [], wave: normalizeWave(log.peaks) }]
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
    spanLane("sentiment", names.sentiment, sentiment?.timeline ?? [], (one) => ({
      label: displayName(m.panels.moods, one.dominant),
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
        level: one.novelty / maxNovelty,
      })),
    },
  ];
  return lanes.filter((lane) => lane.items.length || lane.wave).map(withReach);
}

/** The lane of the search results in a video, if there are any. */
export function hitLane(log: VideoLog, hits: Span[]): Lane[] {
  const label = ({ start }: Span) => {
    const chunk = log.chunks[log.chunkAt(start)];
    return chunk ? chunkText(chunk) : "";
  };
  const lane = spanLane("hits", m.timeline.names.hits, hits, (one) => ({ label: label(one), colour: 0 }));
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
  all: T[],
  style: (one: T, index: number) => { label: string; colour: number },
): LaneSpec {
  const items = all.map((one, index) => ({ start: one.start, end: one.end, ...style(one, index) }));
  return { id, name, kind: "spans", items };
}

/** On-screen text over time. */
function screenLane(log: VideoLog): LaneSpec {
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

/** One lane for each of the most frequent labels. */
function objectLanes(log: VideoLog): LaneSpec[] {
  const byLabel = new Map<string, Item[]>();
  for (const chunk of log.chunks) {
    for (const { label, first_seen, last_seen } of chunk.object_detection?.detections ?? []) {
      // The people lane shows individuals.
      if (!label || (label === "person" && log.people.length)) continue;
      const items = byLabel.get(label) ?? [];
      items.push({
        start: first_seen ?? chunk.start,
        end: last_seen ?? chunk.end,
        label: capitalize(label),
        colour: 2,
      });
      byLabel.set(label, items);
    }
  }
  return [...byLabel]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, OBJECT_LANES)
    .map(([label, items]) => ({ id: `object ${label}`, name: capitalize(label), kind: "spans", items }));
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
