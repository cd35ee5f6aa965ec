// Asking, and being told as the answer is made.
import { serviceUrl, apiError } from "./api";
import { events } from "./events";
import type { Place } from "./address.svelte";
import { typedFilters } from "./search";
import type { AskResponse, AuditedSentence, Hit, Schema } from "./types";

export type AnswerHandlers = {
  /** What is read for the answer. */
  moments: (hits: Hit[]) => void;
  /** Words as they are written, which nobody has checked; what was written before is void where they begin. */
  piece: (text: string, begins: boolean) => void;
  /** A sentence that stands in it. */
  sentence: (sentence: AuditedSentence) => void;
};

/** What is asked about: moments, or what the filters leave of videos. */
export type Scope = Pick<Place, "video" | "analyzer" | "moment" | "every" | "filters">;

/** A question of a conversation, and what came of it. */
export type Turn = {
  question: string;
  scope: Scope;
  reply: AskResponse | null;
  moments: Hit[];
  sentences: AuditedSentence[];
  /** What is being written. */
  draft: string;
  error: string;
  busy: boolean;
};

type AskRequest = {
  question: string;
  video_ids: string[] | null;
  analyzer: string | null;
  moment_ids: string[] | null;
  filters: Record<string, unknown>;
};

/** The body of `POST /ask`. */
export function askRequest(question: string, scope: Scope, schema: Schema | null): AskRequest {
  const { video, analyzer, moment, every, filters } = scope;
  return {
    question,
    video_ids: video.length ? video : null,
    analyzer: analyzer || null,
    moment_ids: moment.length ? moment : null,
    filters: typedFilters(filters, schema, every),
  };
}

/** `POST /ask`; tells what is known before all of it is. */
export async function ask(
  json: AskRequest,
  told: AnswerHandlers,
  signal?: AbortSignal,
): Promise<AskResponse> {
  const response = await fetch(serviceUrl("ask"), {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream, application/json" },
    body: JSON.stringify(json),
    signal,
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : apiError(0, null);
  });
  // A service that tells nothing beforehand answers as a whole.
  const streams = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  if (!response.ok || !streams || !response.body) {
    const body = await response.json().catch(() => null);
    if (!response.ok) throw apiError(response.status, body);
    return body as AskResponse;
  }
  let reply: AskResponse | undefined;
  for await (const { event, data } of events(response.body)) {
    if (event === "moments") told.moments((data as { results: Hit[] }).results);
    else if (event === "piece") {
      const { text, begins } = data as { text: string; begins: boolean };
      told.piece(text, begins);
    } else if (event === "sentence") told.sentence(data as AuditedSentence);
    else if (event === "answer") reply = data as AskResponse;
    else if (event === "error") throw apiError(500, data as { detail?: string });
  }
  if (!reply) throw apiError(0, null);
  return reply;
}
