// The keys: one table, of which they are bound and listed.
import type { Messages } from "../words/en";

/** What keys do to the video that is shown. */
export type Player = {
  toggle(): void;
  /** By so many seconds. */
  step(seconds: number): void;
  frame(frames: number): void;
  /** The part that is chosen begins, or ends, here. */
  mark(edge: "start" | "end"): void;
  clearRange(): void;
  /** To the next or the last of what was found. */
  hit(step: 1 | -1): void;
};

/** `shown` is what stands on the keys, or names one; `what` it does. */
type Binding = { keys: string[]; shown: string[]; what: keyof Messages["keys"] };
type Bound = Binding & { act: (player: Player, key: string) => void };

/** On a video's page. */
export const PLAYER_KEYS: Bound[] = [
  { keys: [" ", "k"], shown: ["space", "K"], what: "toggle", act: (player) => player.toggle() },
  {
    keys: ["j", "l"],
    shown: ["J", "L"],
    what: "ten",
    act: (player, key) => player.step(key === "j" ? -10 : 10),
  },
  {
    keys: ["ArrowLeft", "ArrowRight"],
    shown: ["←", "→"],
    what: "five",
    act: (player, key) => player.step(key === "ArrowLeft" ? -5 : 5),
  },
  {
    keys: [",", "."],
    shown: [",", "."],
    what: "frame",
    act: (player, key) => player.frame(key === "," ? -1 : 1),
  },
  {
    keys: ["i", "o"],
    shown: ["I", "O"],
    what: "range",
    act: (player, key) => player.mark(key === "i" ? "start" : "end"),
  },
  { keys: ["x"], shown: ["X"], what: "clearRange", act: (player) => player.clearRange() },
  {
    keys: ["n", "p"],
    shown: ["N", "P"],
    what: "hits",
    act: (player, key) => player.hit(key === "n" ? 1 : -1),
  },
];

/** Elsewhere: bound where they work. */
export const OTHER_KEYS: Binding[] = [
  { keys: ["/"], shown: ["/"], what: "search" },
  {
    keys: ["+", "-", "0"],
    shown: ["+", "−", "0"],
    what: "zoom",
  },
  { keys: ["?"], shown: ["?"], what: "list" },
];

const TYPED =
  "textarea, [contenteditable], input:not([type=range], [type=checkbox], [type=radio], [type=button])";
const MOVES = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

/** Whether what has the focus uses a key itself: text takes all of them, a slider those that move it. */
function takes(target: Element, key: string): boolean {
  if (target.closest(`${TYPED}, dialog`)) return true;
  if (key === " ")
    return target.closest("button, a, summary, select, [type=checkbox], [type=radio]") !== null;
  if (target.closest("select")) return key.length === 1 || MOVES.includes(key);
  return MOVES.includes(key) && target.closest("input") !== null;
}

/** What a key does on a video's page, unless what has the focus takes it. */
export function playerKey(event: KeyboardEvent, player: Player) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey || event.altKey || takes(event.target as Element, key)) return;
  const bound = PLAYER_KEYS.find((one) => one.keys.includes(key));
  if (!bound) return;
  event.preventDefault();
  bound.act(player, key);
}
