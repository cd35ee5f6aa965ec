import { expect, it } from "vitest";
import { normalizeWave, peakBetween } from "./waveform";

it("finds the peak in any interval", () => {
  const wave = { interval: 0.5, peaks: [0, 0.25, 1, 0.5] };
  const parts: [number, number, number][] = [
    [0, 2, 1],
    [0, 0.5, 0],
    [0.6, 0.7, 0.25],
    [0.9, 1.1, 1],
    [1.5, 9, 0.5],
    [2, 3, 0],
    [-1, 0, 0],
  ];
  for (const [from, to, most] of parts) expect(peakBetween(wave, from, to), `${from} to ${to}`).toBe(most);
});

it("scales the loudest peak to 1, and accepts silence", () => {
  expect(normalizeWave({ interval: 1, peaks: [0.1, 0.4] }).peaks).toEqual([0.25, 1]);
  expect(normalizeWave({ interval: 1, peaks: [0, 0] }).peaks).toEqual([0, 0]);
});
