// One video element: where it is, and how it is moved.

export class Playback {
  element = $state<HTMLVideoElement>();
  time = $state(0);
  paused = $state(true);
  duration = $state(0);

  seek(time: number, play = true) {
    if (!this.element) return;
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
}
