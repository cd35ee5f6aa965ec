// Real footage with real models: results are on the timeline, with boxes over the video.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, expectAccessible, openTab, test } from "./fixtures.js";

const clip = process.env.SHOTLOG_MEDIA && join(process.env.SHOTLOG_MEDIA, "demo_public.mp4");
const models = process.env.SHOTLOG_MODELS ?? "";

test.skip(!clip || !existsSync(clip), "SHOTLOG_MEDIA has no demo_public.mp4");
test.skip(!existsSync(join(models, "detect", "nanodet.onnx")), "SHOTLOG_MODELS has no object detector");
test.use({
  settings: {
    environment: {
      SERVICE_MODELS__DIR: models,
      // Object detection takes most of the test's time.
      SERVICE_DETECTOR__FRAMES_PER_SECOND: "0.5",
    },
  },
});

test("people and objects have lanes and boxes over the paused frame", async ({ page, service }) => {
  await page.goto(service.url);
  await page.getByLabel("Choose files").setInputFiles(clip);
  await page.getByText("Options", { exact: true }).click();
  await page.getByLabel("Min. length (s)").fill("3");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("link", { name: /^Open demo_public\.mp4/ }).click({ timeout: 500_000 });

  const lanes = page.getByLabel("Lanes");
  for (const name of ["Cuts", "Speakers", "People", "Bicycle"]) await expect(lanes.getByText(name, { exact: true })).toBeVisible();
  await expect.poll(() => page.evaluate(() => document.querySelector("video")?.readyState ?? 0)).toBeGreaterThan(0);

  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  const { chunks } = await (await fetch(`${service.url}/videos/${videos[0].video_id}/chunks?verbose=true`)).json();
  const index = chunks.findIndex((chunk) => chunk.object_detection?.detections.some(({ label }) => label === "bicycle"));
  const { locations } = chunks[index].object_detection.detections.find(({ label }) => label === "bicycle");
  // The list renders the moments near its visible part.
  const start = Math.floor(chunks[index].start);
  const clock = `${Math.floor(start / 60)}:${String(start % 60).padStart(2, "0")}`;
  const details = page.getByRole("button", { name: `Show details of the moment at ${clock}`, exact: true });
  await expect(async () => {
    await page.getByRole("tabpanel").evaluate((panel) => panel.scrollBy(0, panel.clientHeight / 2));
    await expect(details).toBeVisible({ timeout: 500 });
  }).toPass();
  await details.click();
  const inspector = page.getByRole("region", { name: "Moment details" });
  await inspector.locator(".cite").filter({ hasText: new RegExp(`^${Math.floor(locations[0].t / 60)}:${String(Math.floor(locations[0].t % 60)).padStart(2, "0")}`) }).first().click();

  // The box is at the service's coordinates, as fractions of the frame.
  const drawn = page.locator("svg rect");
  await expect(drawn.first()).toBeVisible();
  await expect.poll(() => drawn.evaluateAll((all) => all.map((rect) => {
    const { width, height } = rect.ownerSVGElement.viewBox.baseVal;
    return [rect.x.baseVal.value / width, rect.y.baseVal.value / height].map((part) => Math.round(part * 100) / 100).join();
  }))).toContain(locations[0].box.slice(0, 2).map((part) => Math.round(part * 100) / 100).join());
  expect(await page.evaluate(() => document.querySelector("video").paused)).toBe(true);

  await page.getByRole("button", { name: "All moments" }).click();
  await expect(drawn).toHaveCount(0);

  // A person gets a name, which appears once the people are recomputed.
  await openTab(page, "People");
  await page.getByRole("button", { name: "Name Person 1", exact: true }).click();
  const naming = page.getByRole("dialog", { name: "Name Person 1" });
  await expect(naming.getByRole("combobox")).toHaveCount(0);
  await expectAccessible(page, "name a person");
  await naming.getByRole("textbox", { name: "Name" }).fill("Ada Lovelace");
  await naming.getByRole("button", { name: "Save" }).click();
  await expect(naming).toBeHidden();
  await expect(page.getByRole("heading", { name: "Ada Lovelace" })).toBeVisible({ timeout: 60_000 });
});
