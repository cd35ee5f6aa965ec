// The moments behind an answer.
import { splitCitations } from "./citations";
import { errorReason } from "../api/failure";
import { m } from "../i18n/language.svelte";
import type { AskResponse, Hit } from "../api/types";

/** Minimum probability of a moment to be listed with an answer. */
const MIN_RELEVANCE = 0.1;

/** How many of the nearest moments are listed with a refusal. */
const NEAREST = 3;

/** Whether the answer is a refusal, which cites nothing. */
export const isRefusal = ({ answer, answered }: Pick<AskResponse, "answer" | "answered">) =>
  answered === false || !splitCitations(answer ?? "").some(({ cited }) => cited);

type Reply = Pick<AskResponse, "answer" | "answered" | "results">;

/** The distinct moments that an answer cites, in order, with their search result if there is one. */
export function citedHits(reply: Reply): Hit[] {
  if (!reply.answer || isRefusal(reply)) return [];
  const all: Hit[] = [];
  for (const { cited } of splitCitations(reply.answer)) {
    if (!cited) continue;
    const { id, start, end } = cited;
    const at = (hit: Hit) =>
      hit.video_id === id && Math.abs(hit.start - start) < 0.05 && Math.abs(hit.end - end) < 0.05;
    if (!all.some(at)) all.push(reply.results.find(at) ?? { video_id: id, start, end });
  }
  return all;
}

/** The other results that may be relevant to the question; after a refusal, the nearest few. */
export function otherHits(reply: Reply): Hit[] {
  const sources = citedHits(reply);
  const others = reply.results.filter(
    (hit) => !sources.includes(hit) && (hit.p_present ?? 1) >= MIN_RELEVANCE,
  );
  return isRefusal(reply) ? others.slice(0, NEAREST) : others;
}

/** An answer as plain text with numbered sources and links. */
export function plainTextAnswer(
  reply: AskResponse,
  titleOf: (id: string) => string,
  link: (id: string, t: number) => string,
) {
  const { answer = "", question } = reply;
  const sources: string[] = [];
  const text = (answer ?? "").replace(
    /\[([0-9A-Za-z_-]+) (\d+(?:\.\d+)?)\s*[-–]\s*(\d+(?:\.\d+)?)s?\]/g,
    (_, id: string, start: string, end: string) => {
      const source = `${titleOf(id)}, ${start}–${end} s: ${link(id, Number(start))}`;
      if (!sources.includes(source)) sources.push(source);
      return `[${sources.indexOf(source) + 1}]`;
    },
  );
  return [question, "", text, "", ...sources.map((source, index) => `[${index + 1}] ${source}`)].join("\n");
}

/** The message for an answer that failed. */
export const answerError = (error: string | undefined) =>
  error === undefined ? undefined : m.search.answerFailed(errorReason(error));
