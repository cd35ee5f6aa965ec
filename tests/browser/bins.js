// What the tests of bins share.
import { expect } from "./fixtures.js";
import { addVideo } from "./service.js";

/** Ingests a video that has a moment every five seconds. */
export const ingest = (url, given) => addVideo(url, { analyzers: "default_video", mode: "interval", interval: "5" }, given);

export const send = async (url, method, body) =>
  (await fetch(url, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();

export async function deleteBins(service) {
  const { bins } = await (await fetch(`${service.url}/bins`)).json();
  for (const { bin_id: each } of bins) await fetch(`${service.url}/bins/${each}`, { method: "DELETE" });
}

/** Creates a bin with selects of a video, given by their starts; each is two seconds long. */
export async function createBinOf(service, video, starts, name = "Harbour") {
  const { bin_id: bin } = await send(`${service.url}/bins`, "POST", { name });
  const selects = starts.map((start) => ({ video_id: video, start, end: start + 2 }));
  if (selects.length) await send(`${service.url}/bins/${bin}/selects`, "POST", { selects });
  return bin;
}

export const selectsOf = async (service, bin) => (await (await fetch(`${service.url}/bins/${bin}/selects?limit=500`)).json()).selects;
export const startsOf = async (service, bin) => (await selectsOf(service, bin)).map(({ start }) => start);

export const rows = (page) => page.locator("[data-select]");
export const toast = (page) => page.locator(".toast");

/** Chooses a select by keyboard, since rows move while their words are loaded. */
export async function tick(page, label) {
  await page.getByLabel(label).press("Space");
  await expect(page.getByLabel(label)).toBeChecked();
}
