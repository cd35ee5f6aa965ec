// Restores the scroll position of history entries. The browser cannot do so itself, because the page is not
// rendered yet when it navigates.
import { tick } from "svelte";

const positions = new Map<string, number>();
let entry = "";
let stop = () => {};
let restoring = false;

const newEntryId = () => crypto.getRandomValues(new Uint32Array(2)).join("-");
const entryId = (state: unknown) => (state as { entry?: string } | null)?.entry;

/** Whether a history step is restoring its scroll position. */
export const isRestoring = () => restoring;

/**
 * Call after the address changed: registers a new history entry, or restores the position of a known one.
 */
export function enterHistory() {
  const existing = entryId(history.state);
  if (existing !== undefined && existing === entry) return;
  stop();
  entry = existing ?? newEntryId();
  if (existing === undefined) history.replaceState({ entry }, "");
  const position = positions.get(entry);
  if (position !== undefined) restore(position);
}

export function followScroll() {
  addEventListener("scroll", () => positions.set(entry, scrollY), { passive: true });
}

/** Scrolls as soon as the page is tall enough, unless the user interacts first. */
function restore(position: number) {
  const controller = new AbortController();
  const { signal } = controller;
  restoring = true;
  const sized = new ResizeObserver(() => {
    scrollTo(0, position);
    if (Math.abs(scrollY - position) < 1) stop();
  });
  stop = () => {
    restoring = false;
    sized.disconnect();
    controller.abort();
  };
  for (const input of ["wheel", "touchmove", "pointerdown", "keydown"])
    addEventListener(input, () => stop(), { signal, passive: true });
  void tick().then(() => signal.aborted || sized.observe(document.body));
}
