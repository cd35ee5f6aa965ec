// The jobs: those that run are followed by server-sent events, and the list is asked for where those do
// not come.
import { api, ApiError, serviceUrl, videoPath } from "./api";
import { mergeJobs, isActive } from "./job-state";
import { app, loadVideos, errorMessage, refreshVideos, retries, toast } from "./state.svelte";
import type { Job, RerunAccepted } from "./types";

/** A browser keeps about six connections to a host, over all its tabs: most of them must stay free. */
const MAX_STREAMS = 2;
/** Milliseconds between two looks at the list, when it is all there is and when it is not. */
const POLL_FAST = 1000;
const POLL_SLOW = 8000;

const streams = new Map<string, EventSource>();
/** Jobs whose events do not come. */
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

/** Takes the jobs as they are now; a video is there as soon as its job is done. */
function update(jobs: Job[]) {
  // One may have begun and ended between two looks.
  const doneBefore =
    app.jobs && new Set(app.jobs.filter(({ status }) => status === "done").map((job) => job.job_id));
  const done = jobs.filter((job) => job.status === "done");
  app.jobs = jobs;
  for (const job of done) delete retries[job.job_id];
  const newlyDone = doneBefore ? done.filter((job) => !doneBefore.has(job.job_id)) : [];
  // A collection may have had any of the videos.
  if (newlyDone.some((job) => job.result?.collection)) void loadVideos();
  else if (newlyDone.length) void refreshVideos(newlyDone.flatMap((job) => job.result?.video_id ?? []));
  follow();
}

/** Asks for a job to be cancelled, which it is at its next safe point; false when that is refused. */
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

/** Has aggregates of a video worked out again, all where none are named; `force`: those that are stored too. */
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

/** A page that is not looked at gives its connections back. */
export function watchVisibility() {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) follow();
    else void loadJobs();
  });
}

/** Opens and closes streams for what runs now, and plans the next look at the list. */
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
  // A job that waits is looked at again when one that runs ends.
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
