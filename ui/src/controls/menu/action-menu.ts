// Where a menu of actions opens, and which of its items a key focuses.

type Rectangle = { left: number; top: number; bottom: number };
type Size = { width: number; height: number };

/** The distance between the menu and the window's edges, and between the menu and its button, in pixels. */
const EDGE = 8;
const GAP = 4;

/**
 * The position of the menu's top left corner in the window, in pixels: below its button if there is room,
 * otherwise above it, otherwise at the lower edge of the window. The menu is within the window unless it is larger.
 */
export function menuPosition(button: Rectangle, menu: Size, window: Size): { left: number; top: number } {
  const left = Math.max(EDGE, Math.min(button.left, window.width - EDGE - menu.width));
  const lowest = window.height - EDGE - menu.height;
  const [below, above] = [button.bottom + GAP, button.top - GAP - menu.height];
  if (below <= lowest) return { left, top: Math.max(EDGE, below) };
  return { left, top: above >= EDGE ? Math.min(above, lowest) : Math.max(EDGE, lowest) };
}

/**
 * The index of the item that a key focuses, or -1 if the key moves nothing. Arrows wrap around; a letter goes
 * to the next item that starts with it.
 */
export function itemForKey(key: string, from: number, texts: string[]): number {
  const count = texts.length;
  if (!count) return -1;
  if (key === "ArrowDown") return (from + 1) % count;
  if (key === "ArrowUp") return (Math.max(from, 0) - 1 + count) % count;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (!/^[\p{L}\p{N}]$/u.test(key)) return -1;
  const order = texts.map((_, step) => (from + 1 + step) % count);
  const starts = (index: number) => texts[index]?.trim().toLowerCase().startsWith(key.toLowerCase());
  return order.find(starts) ?? -1;
}
