// One video element: where it is, and how it is moved.
import { keep, kept } from "./kept";
import { frameAfter } from "./timecode";
import type { Span } from "./types";

export class Playback {
  element = $state<HTMLVideoElement>();
  time = $state(0);
  paused = $state(true);
  duration = $state(0);
  /** Times as fast as it was recorded. */
  speed = $state(kept("speed", 1));
  /** Pictures per second, where that is known. */
  frameRate: number | undefined;
  /** Where it stops by itself. */
  private until = Infinity;

  seek(time: number, play = true) {
    if (!this.element) return;
    this.until = Infinity;
    this.element.currentTime = time;
    this.time = time;
    // A browser may refuse to start with sound: the picture then waits at the right second.
    if (play) this.element.play().catch(() => {});
  }

  pause() {
    this.element?.pause();
  }

  toggle() {
    if (this.element?.paused) this.element.play().catch(() => {});
    else this.pause();
  }

  /** Moves by so many seconds, and goes on playing only if it was. */
  step(seconds: number) {
    const end = this.duration || Infinity;
    this.seek(Math.min(end, Math.max(0, this.time + seconds)), !this.paused);
  }

  /** Moves by so many pictures, and stays there. */
  frame(count: number) {
    this.pause();
    const end = this.duration || Infinity;
    this.seek(Math.min(end, frameAfter(this.time, count, this.frameRate)), false);
  }

  /** Plays a part and stops at its end. */
  play({ start, end }: Span) {
    this.seek(start);
    this.until = end;
  }

  /** To be called while it plays. */
  stopAtEnd() {
    if (this.time < this.until) return;
    this.until = Infinity;
    this.pause();
  }

  changeSpeed(speed: number) {
    this.speed = speed;
    keep("speed", speed);
  }
}
