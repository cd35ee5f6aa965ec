// Where each entry of the browser's history was scrolled to, so that a step back or on leads there again. The
// browser cannot do so itself: the page that it goes to is not drawn yet.
import { tick } from "svelte";

const positions = new Map<string, number>();
let entry = "";
let stop = () => {};
let restoring = false;

const newEntryId = () => crypto.getRandomValues(new Uint32Array(2)).join("-");
const entryId = (state: unknown) => (state as { entry?: string } | null)?.entry;

/** Whether a step in the history has just led to a place that is scrolled to, not to the top of a page. */
export const isRestoring = () => restoring;

/** To be called when the address has changed: a new entry is noted, one that is gone back to is scrolled. */
export function enterHistory() {
  const known = entryId(history.state);
  if (known !== undefined && known === entry) return;
  stop();
  entry = known ?? newEntryId();
  if (known === undefined) history.replaceState({ entry }, "");
  const position = positions.get(entry);
  if (position !== undefined) restore(position);
}

export function followScroll() {
  addEventListener("scroll", () => positions.set(entry, scrollY), { passive: true });
}

/** Scrolls as soon as the page is long enough, unless the reader does something first. */
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
