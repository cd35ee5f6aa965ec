import { expect, it, vi } from "vitest";
import { Playback } from "./playback.svelte";

it("finishes a seek before it shows the next picture while the pointer drags", () => {
  const seeks: number[] = [];
  let seeked = () => {};
  const element = {
    seeking: false,
    addEventListener: (_: string, listener: () => void) => (seeked = listener),
    set currentTime(time: number) {
      seeks.push(time);
      this.seeking = true;
    },
  };
  const end = () => {
    element.seeking = false;
    seeked();
  };
  const playback = new Playback();
  playback.element = element as unknown as HTMLVideoElement;
  for (const time of [1, 2, 3]) playback.scrub(time);
  expect(seeks).toEqual([1]);
  end();
  expect(seeks).toEqual([1, 3]);
  end();
  playback.scrub(4);
  playback.scrub(5);
  // A seek elsewhere discards what was still to be shown.
  playback.seek(9, false);
  end();
  expect(seeks).toEqual([1, 3, 4, 9]);
});

it("settles on a time once the seek to it has ended", () => {
  const frames: (() => void)[] = [];
  vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
  const paint = () => frames.splice(0).forEach((frame) => frame());
  const element = { currentTime: 0, seeking: true, error: null as MediaError | null };
  const playback = new Playback();
  playback.element = element as HTMLVideoElement;
  const at = (time: number) => {
    playback.time = time;
    playback.settle();
    paint();
    return playback.settled;
  };
  expect([at(1), at(2)]).toEqual([0, 0]);
  // One animation frame waits, however often the time changes.
  expect(frames).toHaveLength(1);
  element.seeking = false;
  expect([at(3), at(4)]).toEqual([3, 4]);
  expect(frames).toEqual([]);
  // The seek of a file that cannot be played never ends.
  element.seeking = true;
  expect(at(5)).toBe(4);
  element.error = {} as MediaError;
  paint();
  expect(playback.settled).toBe(5);
  vi.unstubAllGlobals();
});
