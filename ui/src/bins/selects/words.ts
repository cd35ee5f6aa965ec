// The words that are said in a select.
import { api, videoPath } from "../../api/client";
import type { Span, Utterance } from "../../api/types";
import { spoken } from "./spoken";

/** What is said within a span of a video, with the speakers; empty without a transcript. */
export async function wordsIn(id: string, span: Span, signal: AbortSignal): Promise<string> {
  const path = `${videoPath(id)}/transcript?words=true&after=${span.start}&before=${span.end}`;
  const { utterances } = await api<{ utterances: Utterance[] }>(path, { signal });
  return spoken(utterances, span);
}
