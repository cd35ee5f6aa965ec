// Analysing a stored video again from its page, with more analyzers and another split.
import { readFile } from "node:fs/promises";
import { expect, expectAccessible, openTab, test } from "./fixtures.js";
import { sample } from "./service.js";

// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

async function jobResult(service, jobId) {
  let job;
  await expect.poll(async () => {
    job = await (await fetch(`${service.url}/jobs/${jobId}`)).json();
    return job.status;
  }, { timeout: 120_000 }).toBe("done");
  return job.result;
}

async function ingest(service, fields) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", new Blob([await readFile(sample)], { type: "video/mp4" }), "shotlog-sample.mp4");
  const { job_id: jobId } = await (await fetch(`${service.url}/videos`, { method: "POST", body: form })).json();
  return (await jobResult(service, jobId)).video_id;
}

test("a stored video is analysed further and split again without another upload", async ({ page, service }) => {
  const id = await ingest(service, { analyzers: "default_video", mode: "interval", interval: "10" });
  await page.goto(`${service.url}/#/videos/${id}`);
  await page.getByRole("button", { name: "Analyse again" }).click();
  const dialog = page.getByRole("dialog", { name: "Analyse video again" });
  await expect(dialog.getByRole("checkbox", { name: "Scenes" })).toBeChecked();
  await dialog.getByRole("checkbox", { name: "Speech", exact: true }).check();
  await expect(dialog.getByRole("status")).toContainText(/\d+ moments/);
  await expectAccessible(page, "analyse again");
  const accepted = page.waitForResponse((one) => one.url().endsWith("/videos/url"));
  await dialog.getByRole("button", { name: "Analyse", exact: true }).click();
  const again = await jobResult(service, (await (await accepted).json()).job_id);
  expect(again.video_id).toBe(id);
  expect(again.chunk_config).toBe("interval:10");
  expect(again.analyzers).toEqual(["default_video", "transcript"]);
  // The page shows it without a reload.
  await expect(page.getByRole("region", { name: "Transcript" })).toBeVisible();

  await openTab(page, "Segmentation");
  await page.getByLabel("Min. length (s)").fill("3");
  await page.getByRole("button", { name: "Apply split" }).click();
  const split = page.getByRole("dialog", { name: "Split video again" });
  await expect(split).not.toContainText("will be removed");
  await split.getByRole("checkbox", { name: "Speech", exact: true }).uncheck();
  await expect(split).toContainText("Results for “Speech” will be removed");
  await split.getByRole("checkbox", { name: "Speech", exact: true }).check();
  await expect(split).not.toContainText("will be removed");
  const moments = Number((await split.getByText(/^\d+ moments/).textContent()).match(/\d+/)[0]);
  const splitAccepted = page.waitForResponse((one) => one.url().endsWith("/videos/url"));
  await split.getByRole("button", { name: "Split", exact: true }).click();
  const result = await jobResult(service, (await (await splitAccepted).json()).job_id);
  expect(result.chunks).toBe(moments);
  expect(result.dropped ?? []).toEqual([]);
  await expect(page.locator("main")).toContainText(`${moments} moments`);
});
