// Controls one video element.
import { savePreference, loadPreference } from "../browser/preferences";
import type { Span } from "../api/types";
import { frameAfter } from "./timecode";

/** Maximum overshoot past the end of a range that still counts as reaching it, in seconds. */
const MAX_OVERSHOOT = 3;
/** Offset of the last frame before the end of a range if the frame rate is unknown, in seconds. */
const LAST_FRAME = 0.04;

export class Playback {
  element = $state<HTMLVideoElement>();
  time = $state(0);
  /** The playback time, not updated during a seek. Views that are slow to render follow it. */
  settled = $state(0);
  paused = $state(true);
  duration = $state(0);
  /** Playback rate. */
  speed = $state(loadPreference("speed", 1));
  /** Frames per second, if known. */
  frameRate: number | undefined;
  /** Time at which playback stops. */
  until = $state(Infinity);
  /** Whether playback stopped at `until` and was not resumed. */
  stopped = $state(false);
  /** The span that is played again and again; null if playback does not loop. */
  repeated = $state.raw<Span | null>(null);

  /** The place to show once the picture of the last seek is shown; null if there is none. */
  private pending: number | null = null;
  /** The animation frame that is to update `settled`; 0 if there is none. */
  private settling = 0;

  seek(time: number, play = true) {
    if (!this.element) return;
    this.pending = null;
    this.until = Infinity;
    this.stopped = false;
    this.repeated = null;
    this.element.currentTime = time;
    this.time = time;
    // A browser may block autoplay with sound; the video then stays paused at the requested time.
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

  /**
   * Shows the picture at a place that the pointer is dragged to. A seek discards the picture of an unfinished
   * one, so it waits for that; only the last place counts.
   */
  scrub(time: number) {
    const { element } = this;
    if (!element?.seeking) return this.seek(time, false);
    if (this.pending === null) {
      const next = () => this.pending !== null && this.seek(this.pending, false);
      element.addEventListener("seeked", next, { once: true });
    }
    this.pending = time;
  }

  /** Seeks and keeps the paused or playing state. */
  jump(time: number) {
    this.seek(time, !this.paused);
  }

  /** Seeks and pauses. */
  pauseAt(time: number) {
    this.pause();
    this.seek(time, false);
  }

  /** Seeks by a number of seconds. */
  step(seconds: number) {
    const end = this.duration || Infinity;
    this.jump(Math.min(end, Math.max(0, this.time + seconds)));
  }

  /** Steps by a number of frames and pauses. */
  frame(count: number) {
    const end = this.duration || Infinity;
    this.pauseAt(Math.min(end, frameAfter(this.time, count, this.frameRate)));
  }

  /** Plays from `start` and stops at `end`, if given. */
  play({ start, end }: { start: number; end?: number | null }) {
    this.seek(start);
    if (end && end > start) this.until = end;
  }

  /** Plays a span again and again, until the next seek. */
  loop({ start, end }: Span) {
    // At the very end of the file, playback would stop before it starts again.
    const last = this.duration ? Math.min(end, this.duration - LAST_FRAME) : end;
    this.play({ start, end: last });
    this.repeated = { start, end: last };
  }

  /** Cancels the automatic stop or the loop, and resumes if playback has stopped. */
  resume() {
    this.until = Infinity;
    this.repeated = null;
    if (this.stopped) this.element?.play().catch(() => {});
    this.stopped = false;
  }

  /** Call when the playback position has changed. */
  update() {
    this.time = this.element?.currentTime ?? 0;
    if (this.element?.paused ?? true) return;
    this.stopped = false;
    if (this.time < this.until) return;
    // A seek past the end cancels the stop.
    const last = Math.max(0, this.until - (this.frameRate ? 1 / this.frameRate : LAST_FRAME));
    const stopped = this.time < this.until + MAX_OVERSHOOT;
    const { repeated } = this;
    this.until = Infinity;
    this.repeated = null;
    if (!stopped) return;
    if (repeated) return this.loop(repeated);
    this.pause();
    // Playback may already show the next shot.
    this.seek(last, false);
    this.stopped = true;
  }

  /**
   * An effect that updates the position on each animation frame; `timeupdate` fires only four times a
   * second.
   */
  track() {
    if (this.paused) return;
    const each = () => {
      this.update();
      frame = requestAnimationFrame(each);
    };
    let frame = requestAnimationFrame(each);
    return () => cancelAnimationFrame(frame);
  }

  /** An effect that updates `settled` once no seek is under way. */
  settle() {
    void this.time;
    const each = () => {
      this.settling = this.element?.seeking && !this.element.error ? requestAnimationFrame(each) : 0;
      if (!this.settling) this.settled = this.time;
    };
    this.settling ||= requestAnimationFrame(each);
  }

  changeSpeed(speed: number) {
    this.speed = speed;
    savePreference("speed", speed);
  }
}
