// What was found in a video, on its timeline; against the real service.
import { readFile } from "node:fs/promises";
import { expect, expectAccessible, test } from "./fixtures.js";
import { sample } from "./service.js";

// Other files share the service, and find it empty.
test.afterAll(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

let id;
test.beforeAll(async ({ service }) => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ analyzers: "default_video", mode: "interval", interval: "10" })) form.append(name, value);
  form.append("file", new Blob([await readFile(sample)], { type: "video/mp4" }), "shotlog-sample.mp4");
  const { job_id: jobId } = await (await fetch(`${service.url}/videos`, { method: "POST", body: form })).json();
  await expect.poll(async () => (await (await fetch(`${service.url}/jobs/${jobId}`)).json()).status, { timeout: 120_000 }).toBe("done");
  id = (await (await fetch(`${service.url}/videos`)).json()).videos[0].video_id;
});

const time = (page) => page.evaluate(() => document.querySelector("video").currentTime);
const lanes = (page) => page.getByRole("list", { name: "Lanes" }).getByRole("listitem");

test("all of a video is listed from its page, and shown on its timeline, by keyboard alone", async ({ page, service }, testInfo) => {
  await page.goto(`${service.url}/#/videos/${id}`);
  await page.getByRole("link", { name: "Search in it" }).press("Enter");
  await expect(page.getByRole("heading", { name: /^\d+ moments$/ })).toBeVisible();
  await expect(page.getByRole("button", { name: "Remove shotlog-sample.mp4" })).toBeVisible();
  const moments = await page.locator(".hits li").count();
  expect(moments).toBeGreaterThan(2);
  expect(await page.locator(".hits .thumb").evaluateAll((all) => all.map((one) => Number(one.dataset.start)))).toEqual(Array.from({ length: moments }, (_, at) => at * 10));

  await page.getByRole("link", { name: "Show on the timeline" }).nth(1).press("Enter");
  await expect(page).toHaveURL(/t=10&hit=0-10&hit=10-20/);
  await expect(lanes(page).first()).toHaveText("Found");
  await expect.poll(() => time(page)).toBeGreaterThanOrEqual(9.9);
  await page.keyboard.press("k");
  const found = page.getByRole("group", { name: "What was found" });
  await expect(found).toContainText(`2 of ${moments} found here · 0:10–0:20`);
  await page.keyboard.press("n");
  await expect(found).toContainText(`3 of ${moments}`);
  await expect(page).toHaveURL(/t=20&/);
  await page.keyboard.press("p");
  await page.keyboard.press("p");
  await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/t=0&|t=10&/);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `found at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`found-${width}.png`) });
  }
  await page.reload();
  await expect(lanes(page).first()).toHaveText("Found");
  await found.getByRole("button", { name: "Hide" }).press("Enter");
  await expect(lanes(page).first()).not.toHaveText("Found");
  await expect(page).not.toHaveURL(/hit=/);
});

test("what is like a moment is found from the moment", async ({ page, service }) => {
  await page.goto(`${service.url}/#/videos/${id}?tab=moments`);
  await page.getByRole("button", { name: "Inspect the moment at 0:10" }).click();
  await page.getByRole("link", { name: "More like this" }).click();
  await expect(page.getByRole("search").getByRole("list", { name: "Searched for" })).toContainText("Like shotlog-sample.mp4 at 0:10");
  await expect(page.locator(".hits li").first()).toBeVisible();
  const starts = await page.locator(".hits .thumb").evaluateAll((all) => all.map((one) => Number(one.dataset.start)));
  expect(starts).not.toContain(10);
  await expect(page.locator(".hits .score").first()).toContainText("Likeness");
  await expect(page.getByText("Really here")).toHaveCount(0);
});
