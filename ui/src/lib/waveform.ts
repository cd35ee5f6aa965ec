// The sound of a video as it is drawn.

/** How far it goes out, 0..1, in steps of so many seconds. */
export type Wave = { interval: number; peaks: number[] };

/** What is loudest goes out all the way. */
export function normalizeWave({ interval, peaks }: Wave): Wave {
  const max = peaks.reduce((one, other) => Math.max(one, other), 0);
  return { interval, peaks: peaks.map((peak) => (max ? peak / max : 0)) };
}

/** The furthest that a wave goes out between two times; 0 where there is none of it. */
export function peakBetween({ interval, peaks }: Wave, from: number, to: number): number {
  const first = Math.max(0, Math.floor(from / interval));
  const last = Math.min(peaks.length, Math.max(first + 1, Math.ceil(to / interval)));
  let max = 0;
  for (let index = first; index < last; index += 1) max = Math.max(max, peaks[index]);
  return max;
}
