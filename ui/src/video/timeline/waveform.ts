// The waveform of a video.

/** Peaks (0..1) at an interval in seconds. */
export type Wave = { interval: number; peaks: number[] };

/** Scales the loudest peak to 1. */
export function normalizeWave({ interval, peaks }: Wave): Wave {
  const max = peaks.reduce((one, other) => Math.max(one, other), 0);
  return { interval, peaks: peaks.map((peak) => (max ? peak / max : 0)) };
}

/** The highest peak between two times; 0 outside the waveform. */
export function peakBetween({ interval, peaks }: Wave, from: number, to: number): number {
  const first = Math.max(0, Math.floor(from / interval));
  const last = Math.min(peaks.length, Math.max(first + 1, Math.ceil(to / interval)));
  let max = 0;
  for (let index = first; index < last; index += 1) max = Math.max(max, peaks[index]);
  return max;
}
