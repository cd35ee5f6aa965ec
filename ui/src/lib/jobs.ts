// The jobs: those that run are followed by server-sent events, and the list is asked for where those do
// not come.
import { api, ApiError, at, videoPath } from "./api";
import { current, unfinished } from "./job-state";
import { app, loadVideos, message, refreshVideos, retries, toast } from "./state.svelte";
import type { Job, RerunAccepted } from "./types";

/** A browser keeps about six connections to a host, over all its tabs: most of them must stay free. */
const STREAMS = 2;
/** Milliseconds between two looks at the list, when it is all there is and when it is not. */
const SOON = 1000;
const SELDOM = 8000;

const streams = new Map<string, EventSource>();
/** Jobs whose events do not come. */
const silent = new Set<string>();
let next: ReturnType<typeof setTimeout> | undefined;

export async function loadJobs() {
  clearTimeout(next);
  try {
    const { jobs } = await api<{ jobs: Job[] }>("jobs");
    app.jobsError = "";
    show(current(app.jobs ?? [], jobs));
  } catch (error) {
    app.jobsError = message(error);
    if (error instanceof ApiError && error.status === 401) return;
    follow();
  }
}

/** Takes the jobs as they are now; a video is there as soon as its job is done. */
function show(jobs: Job[]) {
  // One may have begun and ended between two looks.
  const before =
    app.jobs && new Set(app.jobs.filter(({ status }) => status === "done").map((job) => job.job_id));
  const done = jobs.filter((job) => job.status === "done");
  app.jobs = jobs;
  for (const job of done) delete retries[job.job_id];
  const fresh = before ? done.filter((job) => !before.has(job.job_id)) : [];
  // A collection may have had any of the videos.
  if (fresh.some((job) => job.result?.collection)) void loadVideos();
  else if (fresh.length) void refreshVideos(fresh.flatMap((job) => job.result?.video_id ?? []));
  follow();
}

/** Asks for a job to be cancelled, which it is at its next safe point; false when that is refused. */
export async function cancel(job: Job): Promise<boolean> {
  try {
    await api<Job>(`jobs/${encodeURIComponent(job.job_id)}`, { method: "DELETE" });
    return true;
  } catch (error) {
    toast(message(error));
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
  clearTimeout(next);
  const jobs = (app.jobs ?? []).filter(unfinished);
  const running = jobs.filter((job) => job.status === "running").map((job) => job.job_id);
  const wanted = document.hidden ? [] : running.filter((id) => !silent.has(id)).slice(0, STREAMS);
  for (const [id, stream] of streams) {
    if (wanted.includes(id)) continue;
    stream.close();
    streams.delete(id);
  }
  for (const id of wanted) if (!streams.has(id)) streams.set(id, open(id));
  // A job that waits is looked at again when one that runs ends.
  const unseen = running.some((id) => !streams.has(id)) || (jobs.length > 0 && !running.length);
  next = setTimeout(loadJobs, unseen && !document.hidden ? SOON : SELDOM);
}

function open(id: string): EventSource {
  const stream = new EventSource(at(`jobs/${encodeURIComponent(id)}/events`));
  stream.addEventListener("job", (event) => {
    const job = JSON.parse(event.data) as Job;
    show((app.jobs ?? []).map((one) => (one.job_id === id ? job : one)));
  });
  stream.addEventListener("error", () => {
    stream.close();
    streams.delete(id);
    silent.add(id);
    follow();
  });
  return stream;
}
