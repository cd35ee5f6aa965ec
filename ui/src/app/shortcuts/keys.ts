// Keyboard shortcuts: one table for binding and help.
import type { Messages } from "../../i18n/en";

/** The player actions of the shortcuts. */
export type Player = {
  toggle(): void;
  /** Seeks by a number of seconds. */
  step(seconds: number): void;
  frame(frames: number): void;
  /** Sets the range start or end to the current time. */
  mark(edge: "start" | "end"): void;
  clearRange(): void;
  /** Goes to the next or previous search result or select. */
  hit(step: 1 | -1): void;
  /** Adds the selected words, the range or the current moment to a bin. */
  addToBin(): void;
  /** Focuses the text field that searches the transcript. */
  find?(): void;
};

/** `labels` are the key caps, or names of key caps in the language of the page; `action` is the key of its description. */
type Binding = { keys: string[]; labels: string[]; action: keyof Messages["keys"] };
type Bound = Binding & { act: (player: Player, key: string) => void };

/** Shortcuts of the video page. */
export const PLAYER_KEYS: Bound[] = [
  { keys: [" ", "k"], labels: ["space", "K"], action: "toggle", act: (player) => player.toggle() },
  {
    keys: ["j", "l"],
    labels: ["J", "L"],
    action: "ten",
    act: (player, key) => player.step(key === "j" ? -10 : 10),
  },
  {
    keys: ["ArrowLeft", "ArrowRight"],
    labels: ["←", "→"],
    action: "five",
    act: (player, key) => player.step(key === "ArrowLeft" ? -5 : 5),
  },
  {
    keys: [",", "."],
    labels: [",", "."],
    action: "frame",
    act: (player, key) => player.frame(key === "," ? -1 : 1),
  },
  {
    keys: ["i", "o"],
    labels: ["I", "O"],
    action: "range",
    act: (player, key) => player.mark(key === "i" ? "start" : "end"),
  },
  { keys: ["x"], labels: ["X"], action: "clearRange", act: (player) => player.clearRange() },
  {
    keys: ["n", "p"],
    labels: ["N", "P"],
    action: "hits",
    act: (player, key) => player.hit(key === "n" ? 1 : -1),
  },
  { keys: ["b"], labels: ["B"], action: "addToBin", act: (player) => player.addToBin() },
  { keys: ["f"], labels: ["F"], action: "find", act: (player) => player.find?.() },
];

/** Shortcuts bound by other components. */
export const OTHER_KEYS: Binding[] = [
  { keys: ["k"], labels: ["controlK", "⌘K"], action: "command" },
  { keys: ["/"], labels: ["/"], action: "search" },
  { keys: ["ArrowUp", "ArrowDown"], labels: ["↑", "↓", "←", "→"], action: "moveHit" },
  { keys: ["Enter"], labels: ["enter"], action: "openHit" },
  { keys: [" "], labels: ["space"], action: "previewHit" },
  {
    keys: ["+", "-", "0"],
    labels: ["+", "−", "0"],
    action: "zoom",
  },
  { keys: ["ArrowLeft", "ArrowRight"], labels: ["shiftArrows"], action: "selectWords" },
  { keys: ["Enter"], labels: ["enter", "shiftEnter"], action: "playWords" },
  { keys: ["e", "c"], labels: ["E", "C"], action: "correctWords" },
  { keys: ["ArrowUp", "ArrowDown"], labels: ["Alt+↑", "Alt+↓"], action: "moveSelect" },
  { keys: ["z"], labels: ["controlZ"], action: "undo" },
  { keys: ["?"], labels: ["?"], action: "list" },
];

const TYPED =
  "textarea, [contenteditable], input:not([type=range], [type=checkbox], [type=radio], [type=button])";
const MOVES = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

/** Whether the focused element uses a key itself: text fields use all keys, sliders the arrow keys. */
function takes(target: Element, key: string): boolean {
  if (target.closest(`${TYPED}, dialog`)) return true;
  if (key === " ")
    return target.closest("button, a, summary, select, [type=checkbox], [type=radio]") !== null;
  if (target.closest("select")) return key.length === 1 || MOVES.includes(key);
  return MOVES.includes(key) && target.closest("input") !== null;
}

/** Handles a key on the video page, unless the focused element uses it. */
export function playerKey(event: KeyboardEvent, player: Player) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey || event.altKey || takes(event.target as Element, key)) return;
  const bound = PLAYER_KEYS.find((one) => one.keys.includes(key));
  if (!bound) return;
  event.preventDefault();
  bound.act(player, key);
}
