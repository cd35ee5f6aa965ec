// What happens once, when the page is opened.
import { api, onUnauthorised } from "./api";
import { loadJobs, watchVisibility } from "./jobs";
import { app, loadVideos, message, readRoute } from "./state.svelte";
import type { Health, Schema } from "./types";

const HEALTH_EVERY = 30_000;

export async function start() {
  onUnauthorised.call = () => {
    app.gate = true;
  };
  readRoute();
  addEventListener("hashchange", readRoute);
  void checkHealth();
  setInterval(checkHealth, HEALTH_EVERY);
  try {
    const { required, authenticated } = await api<{ required: boolean; authenticated: boolean }>("session");
    app.mayLeave = required && authenticated;
    if (!authenticated) {
      app.gate = true;
      return;
    }
    app.schema = await api<Schema>("schema");
  } catch (error) {
    app.videosError = message(error);
  }
  app.ready = true;
  watchVisibility();
  await Promise.all([loadVideos(), loadJobs()]);
}

async function checkHealth() {
  try {
    app.health = await api<Health>("health");
    app.reachable = true;
  } catch {
    app.reachable = false;
  }
}
