// Loads the sentences of a moment.
import { api, videoPath } from "../../api/client";
import type { Span } from "../../api/types";
import type { Sentence } from "./quote";
import { startOfWords } from "./start-of-words";

/** The sentences that overlap a span; none if the video has no transcript. */
export const loadSentences = (id: string, { start, end }: Span): Promise<Sentence[]> =>
  api<{ utterances: Sentence[] }>(`${videoPath(id)}/transcript?after=${start}&before=${end}`).then(
    ({ utterances }) => utterances,
    () => [],
  );

/** The start of the words of a query in a span of a video. */
export const findStart = async (id: string, span: Span, query: string): Promise<number> =>
  startOfWords(span, query, await loadSentences(id, span));
