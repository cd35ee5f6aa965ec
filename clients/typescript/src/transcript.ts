// Utterances from the output of the transcript or diarization analyzer.
import type { Chunk } from "./generated/schema.js";

/** Speech from `start` to `end`, seconds of the video; `speaker` is set after diarization. */
export interface Utterance {
  start: number;
  end: number;
  text: string;
  speaker: string | null;
}

/** The utterances of a chunk. */
export function utterances(chunk: Chunk): Utterance[] {
  if (chunk.diarization) return chunk.diarization.turns;
  const segments = (chunk.transcript?.segments ?? []) as unknown as Omit<Utterance, "speaker">[];
  return segments.map(({ start, end, text }) => ({ start, end, text, speaker: null }));
}
