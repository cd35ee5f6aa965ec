// Plays a string-out in media elements, of which one is visible.
import {
  emptyStringOut,
  locate,
  playableFrom,
  reduce,
  stringOutTime,
  totalDuration,
  type Clip,
  type Effect,
  type Slot,
  type StringOut,
  type StringOutEvent,
} from "./string-out";

/** Frames per second of steps if the frame rate is unknown. */
const DEFAULT_FRAME_RATE = 25;
/** Maximum time that the start of playback waits for the next clips, in milliseconds. */
const MAX_WAIT = 3000;

/** Whether an element is not yet at the in point of its clip. */
const isLoading = (element: HTMLVideoElement | undefined) =>
  element?.src &&
  !element.error &&
  (element.seeking || element.readyState < HTMLMediaElement.HAVE_CURRENT_DATA);

export class StringOutPlayer {
  state = $state.raw<StringOut>(emptyStringOut);
  /** Time in the file of the current clip, in seconds. */
  time = $state(0);
  elements: (HTMLVideoElement | undefined)[] = [];
  /** Queued loads by slot. Clips load one at a time, because parallel seeks delay the next clip. */
  private waiting = new Map<Slot, () => void>();
  /** The last clip that could not be played. */
  failed = $state.raw<Clip | null>(null);

  readonly clip: Clip | undefined = $derived(this.state.clips[this.state.index]);
  readonly total: number = $derived(totalDuration(this.state.clips));
  /** Time in the string-out, in seconds. */
  readonly position: number = $derived(stringOutTime(this.state.clips, this.state.index, this.time));

  dispatch(event: StringOutEvent) {
    const starts = !this.state.playing;
    const [state, effects] = reduce(this.state, event);
    this.state = state;
    for (const effect of effects) this.apply(effect, starts);
    this.loadNext();
  }

  setClips(clips: Clip[]) {
    this.dispatch({ type: "clips", clips });
  }

  toggle() {
    this.dispatch({ type: this.state.playing ? "pause" : "play" });
  }

  /** Plays a clip from its in point. */
  playClip(id: string) {
    const index = this.state.clips.findIndex((clip) => clip.id === id);
    if (index < 0) return;
    this.dispatch({ type: "go", index });
    this.dispatch({ type: "play" });
  }

  /** Goes to the next or previous clip that can be played. */
  skip(step: 1 | -1) {
    const index = playableFrom(this.state, this.state.index + step, step);
    if (index >= 0) this.dispatch({ type: "go", index });
  }

  /** Seeks to a time of the string-out, in seconds. */
  seek(seconds: number) {
    if (this.state.clips.length) this.dispatch({ type: "go", ...locate(this.state.clips, seconds) });
  }

  /** Seeks by seconds: within the string-out while it plays, otherwise within the file. */
  step(seconds: number) {
    if (this.state.playing) this.seek(Math.min(this.total, Math.max(0, this.position + seconds)));
    else this.seekInFile(this.time + seconds);
  }

  /** Pauses and steps by frames, also beyond the trim of the clip. */
  frame(frames: number, frameRate = DEFAULT_FRAME_RATE) {
    if (this.state.playing) this.dispatch({ type: "pause" });
    this.seekInFile(this.time + frames / frameRate);
  }

  private seekInFile(time: number) {
    const element = this.elements[this.state.active];
    if (!element) return;
    this.time = Math.min(Math.max(0, time), element.duration || Infinity);
    element.currentTime = this.time;
  }

  /** An effect that follows the active element on each animation frame while it plays. */
  track() {
    if (!this.state.playing) return;
    const each = () => {
      this.update();
      frame = requestAnimationFrame(each);
    };
    let frame = requestAnimationFrame(each);
    return () => cancelAnimationFrame(frame);
  }

  private update() {
    const element = this.elements[this.state.active];
    if (!element) return;
    this.time = element.currentTime;
    this.dispatch({ type: "time", time: element.currentTime });
  }

  /** The file of an element has ended. */
  ended(slot: Slot) {
    if (slot === this.state.active) this.dispatch({ type: "ended" });
  }

  private apply(effect: Effect, starts: boolean) {
    if (effect.type === "report") {
      this.failed = effect.clip;
      return;
    }
    const element = this.elements[effect.slot];
    if (!element) return;
    if (effect.type === "load") this.load(element, effect.slot, effect.clip, effect.time);
    else if (effect.type === "pause") element.pause();
    else {
      this.begin(effect.slot);
      if (starts) void this.start(element);
      else this.play(element);
    }
  }

  /** Plays once the next clips are at their in points, so that short clips follow without a gap. */
  private async start(element: HTMLVideoElement) {
    const end = performance.now() + MAX_WAIT;
    const waits = () => this.waiting.size || this.elements.some(isLoading);
    while (waits() && performance.now() < end) await new Promise(requestAnimationFrame);
    if (this.state.playing && this.elements[this.state.active] === element) this.play(element);
  }

  private load(element: HTMLVideoElement, slot: Slot, clip: Clip, time: number) {
    if (slot === this.state.active) this.time = time;
    this.waiting.delete(slot);
    this.waiting.set(slot, () => this.loadNow(element, clip, time));
    if (slot === this.state.active) this.begin(slot);
  }

  /** Begins the load of a slot if it still waits. */
  private begin(slot: Slot) {
    this.waiting.get(slot)?.();
    this.waiting.delete(slot);
  }

  private loadNext() {
    const [next] = this.waiting.keys();
    if (next !== undefined && !this.elements.some(isLoading)) this.begin(next);
  }

  private loadNow(element: HTMLVideoElement, { url }: Clip, time: number) {
    element.pause();
    if (element.src !== url) {
      element.src = url;
      element.load();
    }
    if (element.readyState >= HTMLMediaElement.HAVE_METADATA) element.currentTime = time;
    element.onloadedmetadata = () => (element.currentTime = time);
    element.onseeked = () => this.loadNext();
  }

  private play(element: HTMLVideoElement) {
    element.play().catch((error: unknown) => {
      // A browser may block playback with sound. A load that interrupts it is no failure.
      if (error instanceof DOMException && error.name === "NotAllowedError") this.dispatch({ type: "pause" });
    });
  }
}
