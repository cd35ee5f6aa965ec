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

/** The steps done, with the part of the current one; at most the number of steps. */
export function stepsDone(job: Job): number {
  if (job.status === "queued") return 0;
  const { done, total } = job.detail;
  return Math.max(0, currentStep(job)) + (total ? (done ?? 0) / total : 0.5);
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
