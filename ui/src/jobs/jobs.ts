// The jobs. Running jobs are followed by server-sent events; the list is polled where events are not
// available.
import { api, ApiError, serviceUrl, videoPath } from "../api/client";
import { changesResults, mergeJobs, isActive } from "./job-state";
import { m } from "../i18n/language.svelte";
import { link } from "../state/address.svelte";
import { app, loadVideos, refreshVideos, retries, toast, videoTitle } from "../state/app.svelte";
import { errorMessage } from "../api/failure";
import type { Job, RerunAccepted, Video } from "../api/types";

/** Browsers allow about six connections per host across all tabs, so most must stay free. */
const MAX_STREAMS = 2;
/** Poll intervals in milliseconds, without and with event streams. */
const POLL_FAST = 1000;
const POLL_SLOW = 8000;

const streams = new Map<string, EventSource>();
/** The videos that were listed when an ingest was started in this browser, by job id. */
export const videosBefore = new Map<string, Video[]>();
/** Jobs whose event stream failed. */
const withoutEvents = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

export async function loadJobs() {
  clearTimeout(timer);
  try {
    const { jobs } = await api<{ jobs: Job[] }>("jobs");
    app.jobsError = "";
    update(mergeJobs(app.jobs ?? [], jobs));
  } catch (error) {
    app.jobsError = errorMessage(error);
    if (error instanceof ApiError && error.status === 401) return;
    follow();
  }
}

/** Updates the jobs and loads the videos of those that are newly done. */
function update(jobs: Job[]) {
  // A job may start and end between two polls.
  const doneBefore =
    app.jobs && new Set(app.jobs.filter(({ status }) => status === "done").map((job) => job.job_id));
  const done = jobs.filter((job) => job.status === "done");
  app.jobs = jobs;
  for (const job of done) delete retries[job.job_id];
  const newlyDone = doneBefore ? done.filter((job) => !doneBefore.has(job.job_id)) : [];
  newlyDone.forEach(reportKnown);
  // A collection change may affect any video.
  if (newlyDone.some((job) => job.result?.collection)) void loadVideos();
  else if (newlyDone.length) void refreshVideos(newlyDone.flatMap((job) => job.result?.video_id ?? []));
  follow();
}

/** Reports an ingest of a file that the library had already, because its list does not get longer. */
function reportKnown({ job_id, source, result }: Job) {
  const id = result?.video_id;
  const known = id !== undefined && videosBefore.get(job_id)?.some(({ video_id }) => video_id === id);
  videosBefore.delete(job_id);
  if (!known) return;
  const text = changesResults(result ?? {}) ? m.uploads.knownAgain : m.uploads.known;
  toast(text(source), [{ text: m.hits.openVideo, href: link("videos", {}, id) }]);
}

/** Requests cancellation at the job's next safe point; returns false if it is refused. */
export async function cancel(job: Job): Promise<boolean> {
  try {
    await api<Job>(`jobs/${encodeURIComponent(job.job_id)}`, { method: "DELETE" });
    return true;
  } catch (error) {
    toast(errorMessage(error));
    return false;
  } finally {
    void loadJobs();
  }
}

/** Recomputes aggregates of a video, all if null; `force` includes those already stored. */
export async function rerun(
  video: string,
  aggregators: string[] | null,
  force: boolean,
): Promise<RerunAccepted> {
  const body = new URLSearchParams(aggregators ? { aggregators: aggregators.join(",") } : {});
  const path = `${videoPath(video)}/aggregates?force=${force}`;
  const accepted = await api<RerunAccepted>(path, { method: "POST", body });
  await loadJobs();
  return accepted;
}

/** A hidden page closes its streams. */
export function watchVisibility() {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) follow();
    else void loadJobs();
  });
}

/** Opens and closes streams for the running jobs, and schedules the next poll. */
function follow() {
  clearTimeout(timer);
  const jobs = (app.jobs ?? []).filter(isActive);
  const running = jobs.filter((job) => job.status === "running").map((job) => job.job_id);
  const streamed = document.hidden
    ? []
    : running.filter((id) => !withoutEvents.has(id)).slice(0, MAX_STREAMS);
  for (const [id, stream] of streams) {
    if (streamed.includes(id)) continue;
    stream.close();
    streams.delete(id);
  }
  for (const id of streamed) if (!streams.has(id)) streams.set(id, openStream(id));
  // Queued jobs are refreshed when a running one ends.
  const needsPolling = running.some((id) => !streams.has(id)) || (jobs.length > 0 && !running.length);
  timer = setTimeout(loadJobs, needsPolling && !document.hidden ? POLL_FAST : POLL_SLOW);
}

function openStream(id: string): EventSource {
  const stream = new EventSource(serviceUrl(`jobs/${encodeURIComponent(id)}/events`));
  stream.addEventListener("job", (event) => {
    const job = JSON.parse(event.data) as Job;
    update((app.jobs ?? []).map((one) => (one.job_id === id ? job : one)));
  });
  stream.addEventListener("error", () => {
    stream.close();
    streams.delete(id);
    withoutEvents.add(id);
    follow();
  });
  return stream;
}

/** The file or URL that a job is about, or the video whose alerts it checks. */
export function jobName({ source, job_id: id }: Job): string {
  const checked = /^alerts of ([0-9a-f]{16})$/.exec(source);
  if (checked) return m.jobs.alertsOf(videoTitle(checked[1]));
  return source || m.jobs.job(id.slice(0, 8));
}
