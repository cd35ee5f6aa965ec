// What is said, whichever analyzer recognised it.
import type { Chunk } from "./generated/schema.js";

/** Words spoken from `start` to `end`, seconds of the video; `speaker` where speakers were told apart. */
export interface Utterance {
  start: number;
  end: number;
  text: string;
  speaker: string | null;
}

/** What is said in a chunk. */
export function utterances(chunk: Chunk): Utterance[] {
  if (chunk.diarization) return chunk.diarization.turns;
  const segments = (chunk.transcript?.segments ?? []) as unknown as Omit<Utterance, "speaker">[];
  return segments.map(({ start, end, text }) => ({ start, end, text, speaker: null }));
}
