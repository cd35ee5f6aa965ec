// The words that are said in a select.
import { api, videoPath } from "../../api/client";
import type { Span } from "../../api/types";
import type { Sentence } from "../../player/sentences/quote";

/** What is said within a span of a video, by sentence; empty without a transcript. */
export async function wordsIn(id: string, { start, end }: Span, signal: AbortSignal): Promise<string> {
  const path = `${videoPath(id)}/transcript?after=${start}&before=${end}`;
  const { utterances } = await api<{ utterances: Sentence[] }>(path, { signal });
  return utterances.map(({ text }) => text.trim()).join(" ");
}
