// Asking, and being told as the answer is made.
import { at, failed } from "./api";
import { events } from "./events";
import type { Place } from "./address.svelte";
import { typed } from "./search";
import type { Asked, Audited, Hit, Schema } from "./types";

export type Told = {
  /** What is read for the answer. */
  moments: (hits: Hit[]) => void;
  /** Words as they are written, which nobody has checked; what was written before is void where they begin. */
  piece: (text: string, begins: boolean) => void;
  /** A sentence that stands in it. */
  sentence: (sentence: Audited) => void;
};

/** What is asked about: moments, or what the filters leave of videos. */
export type Scope = Pick<Place, "video" | "analyzer" | "moment" | "every" | "filters">;

/** A question of a conversation, and what came of it. */
export type Turn = {
  question: string;
  scope: Scope;
  reply: Asked | null;
  moments: Hit[];
  sentences: Audited[];
  /** What is being written. */
  draft: string;
  error: string;
  busy: boolean;
};

type Question = {
  question: string;
  video_ids: string[] | null;
  analyzer: string | null;
  moment_ids: string[] | null;
  filters: Record<string, unknown>;
};

/** The body of `POST /ask`. */
export function asking(question: string, scope: Scope, schema: Schema | null): Question {
  const { video, analyzer, moment, every, filters } = scope;
  return {
    question,
    video_ids: video.length ? video : null,
    analyzer: analyzer || null,
    moment_ids: moment.length ? moment : null,
    filters: typed(filters, schema, every),
  };
}

/** `POST /ask`; tells what is known before all of it is. */
export async function ask(json: Question, told: Told, signal?: AbortSignal): Promise<Asked> {
  const response = await fetch(at("ask"), {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream, application/json" },
    body: JSON.stringify(json),
    signal,
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : failed(0, null);
  });
  // A service that tells nothing beforehand answers as a whole.
  const streams = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  if (!response.ok || !streams || !response.body) {
    const body = await response.json().catch(() => null);
    if (!response.ok) throw failed(response.status, body);
    return body as Asked;
  }
  let reply: Asked | undefined;
  for await (const { event, data } of events(response.body)) {
    if (event === "moments") told.moments((data as { results: Hit[] }).results);
    else if (event === "piece") {
      const { text, begins } = data as { text: string; begins: boolean };
      told.piece(text, begins);
    } else if (event === "sentence") told.sentence(data as Audited);
    else if (event === "answer") reply = data as Asked;
    else if (event === "error") throw failed(500, data as { detail?: string });
  }
  if (!reply) throw failed(0, null);
  return reply;
}
