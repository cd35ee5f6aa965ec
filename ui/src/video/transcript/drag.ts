// Selects words with the pointer.

/** Pixels that the pointer may move during a click. */
const CLICK_TOLERANCE = 4;
/** How far the text scrolls while the pointer is beyond its edge, in pixels. */
const SCROLL_STEP = 24;

/** The index of the word at an element or a text; undefined if there is none. */
export function wordOf(node: Node | null): number | undefined {
  const element = node instanceof Element ? node : node?.parentElement;
  const index = element?.closest<HTMLElement>("[data-word]")?.dataset.word;
  return index === undefined ? undefined : Number(index);
}

type Actions = {
  /** Selects from one word to another. */
  select: (anchor: number, word: number) => void;
  /** Extends the selection to a word. */
  extend: (word: number) => void;
  click: (word: number) => void;
};

export class WordDrag {
  private from: { word: number; x: number; y: number } | null = null;
  private dragged = false;

  constructor(private readonly actions: Actions) {}

  /** On a touch screen, a drag scrolls, and the browser selects. */
  press(event: PointerEvent) {
    const word = wordOf(event.target as Node);
    if (event.button !== 0 || word === undefined) return;
    this.from = { word, x: event.clientX, y: event.clientY };
    this.dragged = event.shiftKey;
    if (event.shiftKey) this.actions.extend(word);
  }

  move(event: PointerEvent, scroller: HTMLElement) {
    const { from } = this;
    if (!from || event.pointerType === "touch" || event.shiftKey) return;
    const distance = Math.hypot(event.clientX - from.x, event.clientY - from.y);
    if (!this.dragged && distance < CLICK_TOLERANCE) return;
    if (!this.dragged) scroller.setPointerCapture(event.pointerId);
    this.dragged = true;
    const { top, bottom } = scroller.getBoundingClientRect();
    if (event.clientY < top) scroller.scrollTop -= SCROLL_STEP;
    if (event.clientY > bottom) scroller.scrollTop += SCROLL_STEP;
    const word = wordOf(document.elementFromPoint(event.clientX, event.clientY));
    if (word !== undefined) this.actions.select(from.word, word);
  }

  release() {
    if (this.from && !this.dragged) this.actions.click(this.from.word);
    this.from = null;
  }

  cancel() {
    this.from = null;
  }
}
