// One video element: where it is, and how it is moved.
import { savePreference, loadPreference } from "./preferences";
import { frameAfter } from "./timecode";

/** By how much playing may pass the end of a part before that is seen, seconds. */
const MAX_OVERSHOOT = 3;
/** Seconds before the end of a part at which its last picture is seen, where pictures per second are unknown. */
const LAST_FRAME = 0.04;

export class Playback {
  element = $state<HTMLVideoElement>();
  time = $state(0);
  paused = $state(true);
  duration = $state(0);
  /** Times as fast as it was recorded. */
  speed = $state(loadPreference("speed", 1));
  /** Pictures per second, where that is known. */
  frameRate: number | undefined;
  /** Where it stops by itself. */
  until = $state(Infinity);
  /** Whether it stopped by itself, and has not gone on. */
  stopped = $state(false);

  seek(time: number, play = true) {
    if (!this.element) return;
    this.until = Infinity;
    this.stopped = false;
    this.element.currentTime = time;
    this.time = time;
    // A browser may refuse to start with sound: the picture then waits at the right second.
    if (play) this.element.play().catch(() => {});
  }

  pause() {
    this.element?.pause();
  }

  toggle() {
    if (!this.element) return;
    if (!this.element.paused) return this.pause();
    this.stopped = false;
    this.element.play().catch(() => {});
  }

  /** Goes to another place, and goes on playing only if it was. */
  look(time: number) {
    this.seek(time, !this.paused);
  }

  /** Goes to another place and stays there. */
  show(time: number) {
    this.pause();
    this.seek(time, false);
  }

  /** Moves by so many seconds. */
  step(seconds: number) {
    const end = this.duration || Infinity;
    this.look(Math.min(end, Math.max(0, this.time + seconds)));
  }

  /** Moves by so many pictures, and stays there. */
  frame(count: number) {
    const end = this.duration || Infinity;
    this.show(Math.min(end, frameAfter(this.time, count, this.frameRate)));
  }

  /** Plays a part and stops at its end; without an end, on and on. */
  play({ start, end }: { start: number; end?: number | null }) {
    this.seek(start);
    if (end && end > start) this.until = end;
  }

  /** No longer stops by itself, and plays if it has. */
  goOn() {
    this.until = Infinity;
    if (this.stopped) this.element?.play().catch(() => {});
    this.stopped = false;
  }

  /** To be called when the picture has moved. */
  moved() {
    this.time = this.element?.currentTime ?? 0;
    if (this.element?.paused ?? true) return;
    this.stopped = false;
    if (this.time < this.until) return;
    // A reader who went beyond the end wants to see what is there.
    const last = Math.max(0, this.until - (this.frameRate ? 1 / this.frameRate : LAST_FRAME));
    const stopped = this.time < this.until + MAX_OVERSHOOT;
    this.until = Infinity;
    if (!stopped) return;
    this.pause();
    // By now the picture may be that of the next shot.
    this.seek(last, false);
    this.stopped = true;
  }

  /** An effect of what shows it: it tells by itself four times a second, which is too seldom for a playhead. */
  follow() {
    if (this.paused) return;
    const each = () => {
      this.moved();
      frame = requestAnimationFrame(each);
    };
    let frame = requestAnimationFrame(each);
    return () => cancelAnimationFrame(frame);
  }

  changeSpeed(speed: number) {
    this.speed = speed;
    savePreference("speed", speed);
  }
}
