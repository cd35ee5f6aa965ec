// The panes of the video page: their places, their sizes and the tabs of results.
import { expect, expectAccessible, openTab, test } from "./fixtures.js";
import { longVideo } from "./long-video.js";
import { spokenVideo } from "./spoken-video.js";

const transcript = (page) => page.getByRole("region", { name: "Transcript" });
const separator = (page, name) => page.getByRole("separator", { name });
const timeline = (page) => page.getByRole("region", { name: "Timeline" });

/** Whether the whole element is within the window. */
const inView = (locator) => locator.evaluate((element) => {
  const { top, left, bottom, right, height } = element.getBoundingClientRect();
  return height > 100 && top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
});

test("picture, timeline and transcript are in view together", async ({ page, service }) => {
  const id = await longVideo(page);
  await page.goto(`${service.url}/#/videos/${id}`);
  await expect(page.getByText("2,000 moments")).toBeVisible();
  for (const pane of [page.locator(".stage"), timeline(page), transcript(page), page.getByRole("tabpanel")]) await expect.poll(() => inView(pane)).toBe(true);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBeLessThanOrEqual(0);
  const [stage, text] = [await page.locator(".stage").boundingBox(), await transcript(page).boundingBox()];
  expect(text.x).toBeGreaterThan(stage.x + stage.width);
  expect(Math.abs(text.y - stage.y)).toBeLessThan(4);
});

test("separators resize panes by keys and pointer, and the sizes are remembered", async ({ page, service }) => {
  const { id } = await spokenVideo(page);
  await page.goto(`${service.url}/#/videos/${id}`);
  const columns = separator(page, "Resize picture and transcript");
  const width = async () => (await transcript(page).boundingBox()).width;
  await expect(columns).toHaveAttribute("aria-orientation", "vertical");
  const [before, narrow] = [Number(await columns.getAttribute("aria-valuenow")), await width()];
  await columns.focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Shift+ArrowLeft");
  await expect(columns).toHaveAttribute("aria-valuenow", String(before - 12));
  await expect.poll(width).toBeGreaterThan(narrow + 100);
  // The keys do not reach the player.
  expect(await page.evaluate(() => document.querySelector("video").currentTime)).toBe(0);

  const rows = separator(page, "Resize transcript and results");
  await expect(rows).toHaveAttribute("aria-orientation", "horizontal");
  const height = async () => (await transcript(page).boundingBox()).height;
  const low = await height();
  const { x, y } = await rows.boundingBox();
  await page.mouse.move(x + 50, y + 5);
  await page.mouse.down();
  await page.mouse.move(x + 50, y + 105, { steps: 4 });
  await page.mouse.up();
  await expect.poll(height).toBeGreaterThan(low + 80);
  const sizes = [await width(), await height()];
  await page.reload();
  await expect(columns).toHaveAttribute("aria-valuenow", String(before - 12));
  await expect.poll(async () => [await width(), await height()]).toEqual(sizes.map((size) => expect.closeTo(size, 0)));
  await rows.dblclick();
  await expect.poll(async () => Math.abs((await height()) - low)).toBeLessThan(2);
  await rows.press("End");
  await expect(rows).toHaveAttribute("aria-valuenow", await rows.getAttribute("aria-valuemax"));
});

test("a narrow window stacks the panes", async ({ page, service }) => {
  await page.setViewportSize({ width: 880, height: 900 });
  const { id } = await spokenVideo(page);
  await page.goto(`${service.url}/#/videos/${id}`);
  await expect(transcript(page)).toBeVisible();
  await expect(page.getByRole("separator")).toHaveCount(0);
  const tops = await Promise.all([page.locator(".stage"), timeline(page), transcript(page), page.getByRole("tabpanel")].map(async (pane) => (await pane.boundingBox()).y));
  expect(tops).toEqual(tops.toSorted((a, b) => a - b));
});

test("results are in few groups, and links to their tabs still work", async ({ page, service }) => {
  const id = await longVideo(page);
  await page.goto(`${service.url}/#/videos/${id}?tab=statistics`);
  const groups = page.getByRole("tablist", { name: "Results" });
  await expect(groups.getByRole("tab", { selected: true })).toHaveText("Statistics");
  await openTab(page, "Events");
  await expect(page).toHaveURL(/tab=events$/);
  expect(await groups.getByRole("tab").count()).toBeLessThanOrEqual(4);
  // The transcript, which was a tab, is a pane.
  await page.setViewportSize({ width: 880, height: 700 });
  await page.goto(`${service.url}/#/videos/${id}?tab=transcript`);
  await expect(page.getByLabel("Find in transcript")).toBeInViewport();
});

test("a file without a picture shows its sound", async ({ page, service }) => {
  const { id } = await spokenVideo(page);
  await page.goto(`${service.url}/#/videos/${id}`);
  await expect(page.locator("video")).toBeHidden();
  const canvas = page.locator(".waveform canvas");
  await expect.poll(() => inView(canvas)).toBe(true);
  // Two speakers have two colours.
  await expect.poll(() => canvas.evaluate((element) => {
    const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
    return new Set(new Uint32Array(data.buffer)).size;
  })).toBeGreaterThan(3);
  await expect.poll(() => page.evaluate(() => document.querySelector("video").readyState)).toBeGreaterThan(0);
  const { width, height } = await canvas.boundingBox();
  await canvas.click({ position: { x: width / 2, y: height / 2 } });
  await expect.poll(() => page.evaluate(() => document.querySelector("video").currentTime)).toBeCloseTo(30, 0);
  await expect(transcript(page)).toContainText("The ferry leaves at nine.");
});

for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
  test(`the panes are accessible at ${width} px, ${colorScheme}`, async ({ page, service }) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { id } = await spokenVideo(page);
    await page.goto(`${service.url}/#/videos/${id}?t=22&range=12-18`);
    await expect(transcript(page)).toContainText("The ferry leaves at nine.");
    await expectAccessible(page, `panes at ${width}`);
  });
}
