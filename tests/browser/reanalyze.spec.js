// Analysing a stored video again from its page, with more analyzers and another split.
import { readFile } from "node:fs/promises";
import { expect, expectAccessible, openTab, test } from "./fixtures.js";
import { longVideo } from "./long-video.js";
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

test("tabs say what was not found, and what was not looked for", async ({ page, service }) => {
  const id = await longVideo(page, { frame_rate: 25 });
  // People were looked for, text was not: the tests have no text recognition.
  await page.route((url) => url.pathname === "/intervals", (route) => {
    const isText = "reads" in route.request().postDataJSON().expression;
    const not_analyzed = isText ? { ocr: { videos: 1, video_ids: [id], parts: [] } } : {};
    return route.fulfill({ json: { expression: {}, videos: [], not_analyzed, unknown_videos: [], truncated_texts: [] } });
  });
  await page.goto(`${service.url}/#/videos/${id}`);
  const panel = await openTab(page, "People");
  await expect(panel).toHaveText("Looked for people; found none.");
  await expectAccessible(page, "nothing found", "#panel");
  await openTab(page, "On-screen text");
  await expect(panel).toContainText("This video has not been analysed for on-screen text. Not available here: on-screen text (");
  await expect(panel.getByRole("button")).toHaveCount(0);
  await expect(page.getByRole("tab", { name: "Objects", exact: true })).toHaveCount(0);
});

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
