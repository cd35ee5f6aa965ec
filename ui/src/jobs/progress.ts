// The progress of a running job, as a number and in words.
import { analyzerName, stageName } from "../i18n/format";
import { m } from "../i18n/language.svelte";
import type { Job } from "../api/types";

/** The steps shown, each with the job stages that it covers. */
export const STEPS = [
  ["fetch", ["starting", "fetching"]],
  ["split", ["chunking", "chunked"]],
  ["analyse", ["analyzing", "indexing"]],
  ["summarise", ["aggregating"]],
] as const;

/** The index of the current step; -1 before the first one. */
export const currentStep = ({ status, stage }: Pick<Job, "status" | "stage">): number =>
  status === "queued" ? -1 : STEPS.findIndex(([, stages]) => (stages as readonly string[]).includes(stage));

/** The steps done, with the part of the current one; at most the number of steps. It never falls. */
export function stepsDone(job: Job): number {
  return job.status === "queued" ? 0 : Math.max(0, currentStep(job)) + stepPart(job);
}

/** The part of the current step that is done, from 0 to 1. */
function stepPart({ stage, detail: { done = 0, total, analyzers, analyzers_done = 0 } }: Job): number {
  if (stage === "chunked") return 1;
  const part = total ? done / total : 0;
  if (analyzers) return (analyzers_done + (stage === "indexing" ? 1 : part)) / analyzers;
  return total || stage === "starting" || stage === "chunking" ? part : 0.5;
}

/** What the job is doing, for example "Analysing · Scenes · 3 of 12 moments". */
export function stageLine(job: Job): string {
  if (job.status === "queued") return stageName("queued");
  const { analyzer, aggregator, recogniser, chunks, done, total } = job.detail;
  if (recogniser) return m.jobs.transcribing(done ?? 0, m.count.speechSegments(total ?? 0));
  const running = analyzer ?? aggregator;
  const counted = chunks ? m.count.moments(chunks) : "";
  const progress = total ? m.jobs.doneOf(done ?? 0, m.count.moments(total)) : counted;
  return [stageName(job.stage), running ? analyzerName(running) : "", progress].filter(Boolean).join(" · ");
}
