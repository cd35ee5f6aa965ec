import { expect, it } from "vitest";
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
