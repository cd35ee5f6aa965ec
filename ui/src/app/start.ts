// Starts the page.
import { loadOthers } from "./pages.svelte";
import { followAddress } from "../state/address.svelte";
import { api, onUnauthorised } from "../api/client";
import { restoreRetries } from "../ingest/ingest";
import { loadJobs, watchVisibility } from "../jobs/jobs";
import { app, loadSchema, loadVideos, refreshVideos } from "../state/app.svelte";
import type { Health } from "../api/types";
import { loadUnread } from "../alerts/inbox.svelte";
import { poll } from "../browser/poll";
import { loadNews } from "../video/comments/news.svelte";
import { restoreUploads, loadTus } from "../ingest/uploads.svelte";

const HEALTH_INTERVAL = 30_000;
/** Other users add and delete videos too. */
const VIDEOS_INTERVAL = 30_000;
/** Delay of background loads, so that the browser paints the lists first, in milliseconds. */
const PAINT_TIME = 500;

export async function start() {
  onUnauthorised.call = () => {
    app.signInRequired = true;
  };
  followAddress();
  void checkHealth();
  setInterval(checkHealth, HEALTH_INTERVAL);
  // If this fails, the calls that follow detect whether sign-in is required.
  type Session = { required: boolean; authenticated: boolean; read_only: boolean; name: string | null };
  const session = await api<Session>("session").catch(() => null);
  app.canSignOut = Boolean(session?.required && session.authenticated);
  app.openToAll = session?.required === false;
  app.readOnly = Boolean(session?.read_only);
  app.userName = session?.name ?? "";
  if (session && !session.authenticated) {
    app.signInRequired = true;
    return;
  }
  const lists = Promise.all([loadVideos(), loadJobs()]);
  await loadSchema();
  app.ready = true;
  restoreRetries();
  restoreUploads();
  watchVisibility();
  setInterval(() => !document.hidden && refreshVideos(), VIDEOS_INTERVAL);
  await lists;
  await new Promise((done) => setTimeout(done, PAINT_TIME));
  poll(loadUnread);
  poll(loadNews);
  await Promise.allSettled([loadOthers(), loadTus()]);
}

async function checkHealth() {
  try {
    app.health = await api<Health>("health");
    app.reachable = true;
    if (app.schemaError) await loadSchema();
  } catch {
    app.reachable = false;
  }
}
