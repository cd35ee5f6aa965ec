// Questions, with the answer streamed as it is written.
import { serviceUrl, apiError } from "../api/client";
import { events } from "../api/events";
import type { Place } from "../state/address.svelte";
import { typedFilters } from "../search/search";
import type { AskResponse, AuditedSentence, Hit, Schema } from "../api/types";

export type AnswerHandlers = {
  /** Receives the moments read for the answer. */
  moments: (hits: Hit[]) => void;
  /** Receives draft text that is not audited yet; `begins` discards the draft so far. */
  piece: (text: string, begins: boolean) => void;
  /** Receives an audited sentence of the answer. */
  sentence: (sentence: AuditedSentence) => void;
};

/** The scope of a question: moments, or videos with conditions and filters. */
export type Scope = Pick<Place, "video" | "analyzer" | "moment" | "every" | "where" | "filters">;

/** One turn of a conversation. */
export type Turn = {
  question: string;
  scope: Scope;
  reply: AskResponse | null;
  moments: Hit[];
  sentences: AuditedSentence[];
  /** The draft text so far. */
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
  const { video, analyzer, moment, every, where, filters } = scope;
  return {
    question,
    video_ids: video.length ? video : null,
    analyzer: analyzer || null,
    moment_ids: moment.length ? moment : null,
    filters: typedFilters(filters, schema, every, where),
  };
}

/** Calls `POST /ask` and reports partial results to the handlers. */
export async function ask(
  json: AskRequest,
  handlers: AnswerHandlers,
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
  // A service without streaming responds with JSON.
  const streams = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  if (!response.ok || !streams || !response.body) {
    const body = await response.json().catch(() => null);
    if (!response.ok) throw apiError(response.status, body);
    return body as AskResponse;
  }
  let reply: AskResponse | undefined;
  for await (const { event, data } of events(response.body)) {
    if (event === "moments") handlers.moments((data as { results: Hit[] }).results);
    else if (event === "piece") {
      const { text, begins } = data as { text: string; begins: boolean };
      handlers.piece(text, begins);
    } else if (event === "sentence") handlers.sentence(data as AuditedSentence);
    else if (event === "answer") reply = data as AskResponse;
    else if (event === "error") throw apiError(500, data as { detail?: string });
  }
  if (!reply) throw apiError(0, null);
  return reply;
}
