// What an answer rests on.
import { splitCitations } from "./format";
import type { AskResponse, Hit } from "./types";

/** Moments that are less probably about a question are not near what is asked for. */
const MIN_RELEVANCE = 0.1;

/** Says only that the footage does not show it: nothing is cited for that. */
export const isRefusal = ({ answer, answered }: Pick<AskResponse, "answer" | "answered">) =>
  answered === false || !splitCitations(answer ?? "").some(({ cited }) => cited);

type Reply = Pick<AskResponse, "answer" | "answered" | "results">;

/** The moments that an answer cites, once each, in its order; with what was found there, if it was. */
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

/** What else was found, as far as it may bear on the question. */
export function otherHits(reply: Reply): Hit[] {
  const sources = citedHits(reply);
  return reply.results.filter((hit) => !sources.includes(hit) && (hit.p_present ?? 1) >= MIN_RELEVANCE);
}

/** An answer as text to paste: each citation as the video's name and the second, with a link. */
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
