// The string-out as a state machine: which clip plays in which media element. The other elements have the
// next clips loaded and sought to their in points, so that the swap takes no time; six, because some seeks take
// longer than a short clip plays. It touches no element: `reduce` returns the effects, which
// `string-out-player.svelte.ts` applies.

/** A select that can be played. `start` and `end` are seconds of the file; `position` counts from 0. */
export type Clip = {
  id: string;
  video: string;
  name: string;
  position: number;
  url: string;
  start: number;
  end: number;
};

/** The media elements, by their number. */
export const SLOTS = [0, 1, 2, 3, 4, 5, 6] as const;
export type Slot = (typeof SLOTS)[number];

export type StringOut = {
  clips: Clip[];
  /** Index of the current clip. */
  index: number;
  active: Slot;
  playing: boolean;
  /** Whether the last clip has ended. */
  ended: boolean;
  /** What each element has loaded, as `clipKey`. */
  loaded: readonly string[];
  /** Ids of the clips that cannot be played. */
  failed: ReadonlySet<string>;
};

export type StringOutEvent =
  /** Goes to a clip, by default to its in point. */
  | { type: "go"; index: number; time?: number }
  | { type: "play" }
  | { type: "pause" }
  /** The active element is at this time of its file. */
  | { type: "time"; time: number }
  /** The active element has reached the end of its file. */
  | { type: "ended" }
  | { type: "failed"; slot: Slot }
  /** The bin has changed. */
  | { type: "clips"; clips: Clip[] };

export type Effect =
  | { type: "load"; slot: Slot; clip: Clip; time: number }
  | { type: "play" | "pause"; slot: Slot }
  | { type: "report"; clip: Clip };

type Step = [StringOut, Effect[]];

/** Seconds before the out point at which a clip counts as ended: half a display frame. */
const EARLY = 1 / 120;

const clipKey = ({ id, url, start }: Clip) => `${id} ${start} ${url}`;

export const emptyStringOut: StringOut = {
  clips: [],
  index: 0,
  active: 0,
  playing: false,
  ended: false,
  loaded: SLOTS.map(() => ""),
  failed: new Set(),
};

/** Index of the next playable clip at or after `from` (or before it); -1 if there is none. */
export function playableFrom({ clips, failed }: StringOut, from: number, step: 1 | -1 = 1): number {
  for (let index = from; index >= 0 && index < clips.length; index += step) {
    if (!failed.has(clips[index].id)) return index;
  }
  return -1;
}

export function reduce(state: StringOut, event: StringOutEvent): Step {
  switch (event.type) {
    case "go":
      return go(state, event.index, event.time);
    case "play":
      if (state.ended) return go({ ...state, playing: true }, 0);
      return [{ ...state, playing: true }, [{ type: "play", slot: state.active }]];
    case "pause":
      return [{ ...state, playing: false }, [{ type: "pause", slot: state.active }]];
    case "time": {
      const clip = state.clips[state.index];
      return state.playing && clip && event.time >= clip.end - EARLY ? advance(state) : [state, []];
    }
    case "ended":
      return state.playing ? advance(state) : [state, []];
    case "failed":
      return fail(state, event.slot);
    case "clips":
      return replaceClips(state, event.clips);
  }
}

/** Goes to the first playable clip from `index` on. */
function go(state: StringOut, index: number, time?: number): Step {
  const target = playableFrom(state, index);
  if (target < 0) return end(state);
  const clip = state.clips[target];
  const at = target === index ? (time ?? clip.start) : clip.start;
  const prepared = waitingSlots(state).find((slot) => state.loaded[slot] === clipKey(clip));
  if (at === clip.start && prepared !== undefined) return swap(state, target, prepared);
  const { active } = state;
  const effects: Effect[] = [{ type: "load", slot: active, clip, time: at }];
  if (state.playing) effects.push({ type: "play", slot: active });
  const moved = { ...state, index: target, ended: false, loaded: state.loaded.with(active, clipKey(clip)) };
  return prepare(moved, effects);
}

const advance = (state: StringOut): Step => {
  const next = playableFrom(state, state.index + 1);
  return next < 0 ? end(state) : go(state, next);
};

/** The elements that are not shown. */
const waitingSlots = ({ active }: StringOut) => SLOTS.filter((slot) => slot !== active);

/** Shows the element that has the clip loaded. */
function swap(state: StringOut, index: number, active: Slot): Step {
  const { active: previous } = state;
  const effects: Effect[] = state.playing ? [{ type: "play", slot: active }] : [];
  effects.push({ type: "pause", slot: previous });
  // The element that was active is no longer at an in point.
  const loaded = state.loaded.with(previous, "");
  return prepare({ ...state, index, active, loaded, ended: false }, effects);
}

/** Loads the clips after the current one into the other elements. */
function prepare(state: StringOut, effects: Effect[]): Step {
  const slots = waitingSlots(state);
  const next = upcoming(state, slots.length);
  const keys = next.map(clipKey);
  let { loaded } = state;
  const loads: Effect[] = [];
  for (const clip of next) {
    if (slots.some((slot) => loaded[slot] === clipKey(clip))) continue;
    const slot = slots.find((one) => !keys.includes(loaded[one]));
    if (slot === undefined) break;
    loaded = loaded.with(slot, clipKey(clip));
    loads.push({ type: "load", slot, clip, time: clip.start });
  }
  return [{ ...state, loaded }, [...effects, ...loads]];
}

/** The next clips that can be played after the current one, at most `count`. */
function upcoming(state: StringOut, count: number): Clip[] {
  const clips: Clip[] = [];
  let index = playableFrom(state, state.index + 1);
  while (index >= 0 && clips.length < count) {
    clips.push(state.clips[index]);
    index = playableFrom(state, index + 1);
  }
  return clips;
}

const end = (state: StringOut): Step => [
  { ...state, playing: false, ended: true },
  [{ type: "pause", slot: state.active }],
];

function fail(state: StringOut, slot: Slot): Step {
  const clip = state.clips.find((one) => clipKey(one) === state.loaded[slot]);
  if (!clip || state.failed.has(clip.id)) return [state, []];
  const failed = new Set([...state.failed, clip.id]);
  const report: Effect = { type: "report", clip };
  const without = { ...state, failed };
  const [next, effects] = slot === state.active ? advance(without) : prepare(without, []);
  return [next, [report, ...effects]];
}

/** Keeps the current clip if it still exists, and loads the next one if it differs. */
function replaceClips(state: StringOut, clips: Clip[]): Step {
  const current = state.clips[state.index];
  const found = clips.findIndex(({ id }) => id === current?.id);
  if (found >= 0) return prepare({ ...state, clips, index: found }, []);
  const replaced = { ...state, clips };
  if (!clips.length) return end({ ...replaced, index: 0 });
  const index = Math.min(state.index, clips.length - 1);
  // Without an earlier current clip, nothing is loaded yet.
  return go(replaced, index);
}

/** Duration of all clips, in seconds. */
export const totalDuration = (clips: Clip[]) => clips.reduce((sum, { start, end }) => sum + end - start, 0);

/** The time within the string-out of a time of the clip at `index`, in seconds. */
export function stringOutTime(clips: Clip[], index: number, time: number): number {
  const clip = clips[index];
  if (!clip) return 0;
  const within = Math.min(Math.max(time, clip.start), clip.end) - clip.start;
  return totalDuration(clips.slice(0, index)) + within;
}

/** The clip at a time of the string-out, and the time of its file. */
export function locate(clips: Clip[], seconds: number): { index: number; time: number } {
  let left = Math.max(0, seconds);
  for (const [index, { start, end }] of clips.entries()) {
    if (left < end - start || index === clips.length - 1) return { index, time: Math.min(start + left, end) };
    left -= end - start;
  }
  return { index: 0, time: 0 };
}
