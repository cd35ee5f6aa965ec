// The player and its timeline: shortcuts, frames, typed times, ranges and lanes.
import { readFile } from "node:fs/promises";
import { expect, expectAccessible, openTimeMenu, test } from "./fixtures.js";
import { longVideo } from "./long-video.js";
import { addVideo, sample } from "./service.js";

// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

let id;
test.beforeAll(async ({ service }) => {
  id = await addVideo(service.url, { analyzers: "default_video", mode: "interval", interval: "10" });
});

const player = (page) => page.evaluate(() => {
  const { paused, currentTime, playbackRate } = document.querySelector("video");
  return { paused, t: currentTime, rate: playbackRate };
});
async function open(page, service, more = "") {
  await page.goto(`${service.url}/#/videos/${id}${more}`);
  await expect.poll(() => page.evaluate(() => document.querySelector("video")?.readyState ?? 0)).toBeGreaterThan(1);
}

test("shortcuts work after a click on the seek bar, except the keys that move it", async ({ page, service }) => {
  await open(page, service);
  const bar = page.getByRole("slider", { name: "Seek" });
  await bar.click();
  const { t } = await player(page);
  await page.keyboard.press("l");
  await expect.poll(async () => (await player(page)).t).toBeCloseTo(t + 10, 1);
  await page.keyboard.press("j");
  await expect.poll(async () => (await player(page)).t).toBeCloseTo(t, 1);
  await page.keyboard.press("Space");
  await expect.poll(async () => (await player(page)).paused).toBe(false);
  await page.keyboard.press("k");
  await expect.poll(async () => (await player(page)).paused).toBe(true);
  // In a text field, letters are text.
  await page.getByLabel("Go to time").fill("k");
  expect((await player(page)).paused).toBe(true);
});

test("the player steps by frames and goes to a typed time", async ({ page, service }) => {
  await open(page, service, "?t=10");
  const { frame_rate: rate } = await (await fetch(`${service.url}/videos/${id}`)).json();
  expect(rate).toBeGreaterThan(1);
  await openTimeMenu(page);
  await page.getByLabel("Time format").selectOption("frames");
  await page.keyboard.press("Escape");
  const field = page.getByLabel("Go to time");
  await page.keyboard.press("k");
  await expect.poll(async () => (await player(page)).paused).toBe(true);
  await field.fill("0:20");
  await field.press("Enter");
  await expect(field).toHaveValue(/^00:00:20[:;]00$/);
  await expect(page).toHaveURL(/t=20/);
  await field.blur();
  await page.keyboard.press(".");
  await expect(field).toHaveValue(/^00:00:20[:;]01$/);
  await page.keyboard.press(".");
  await page.keyboard.press(",");
  await page.keyboard.press(",");
  await expect(field).toHaveValue(/^00:00:20[:;]00$/);
  await field.fill("later");
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await field.press("Escape");
  await expect(field).toHaveValue(/^00:00:20[:;]00$/);
  // The format and the speed are saved.
  await page.getByLabel("Speed").selectOption("1.5");
  await page.reload();
  await expect(page.getByLabel("Time format")).toHaveValue("frames");
  await expect.poll(async () => (await player(page)).rate).toBe(1.5);
  await page.getByLabel("Speed").selectOption("1");
  await openTimeMenu(page);
  const picture = await page.getByRole("link", { name: "Save frame" }).getAttribute("href");
  expect((await fetch(picture)).headers.get("content-type")).toBe("image/jpeg");
});

test("a range is selected by keys or dragging, played, and kept in the address", async ({ page, service }) => {
  await open(page, service, "?t=10");
  await page.keyboard.press("k");
  await expect.poll(async () => (await player(page)).paused).toBe(true);
  const field = page.getByLabel("Go to time");
  for (const [time, key] of [["12", "i"], ["13.5", "o"]]) {
    await field.fill(time);
    await field.press("Enter");
    await page.keyboard.press(key);
  }
  await expect(page).toHaveURL(/range=12-13\.5/);
  const range = page.getByRole("group", { name: "Range" });
  await expect(range).toContainText("0:12.00 – 0:13.50");
  await expectAccessible(page, "range");
  await range.getByRole("button", { name: "Play" }).click();
  await expect.poll(async () => (await player(page)).paused, { timeout: 20_000 }).toBe(true);
  // It stops on the last frame of the range.
  await expect.poll(async () => (await player(page)).t).toBeLessThan(13.5);
  expect((await player(page)).t).toBeGreaterThan(13.4);
  await page.reload();
  await expect(range).toContainText("0:12.00 – 0:13.50");
  await openTimeMenu(page);
  await page.getByRole("link", { name: "Search range" }).click();
  await expect(page).toHaveURL(new RegExp(`search\\?video=${id}&filter\\.overlaps_after=12\\.001&filter\\.overlaps_before=13\\.499`));
  await page.goBack();
  await page.keyboard.press("x");
  await expect(range).toBeHidden();

  for (const [time, edge] of [["2", "Set range start"], ["4", "Set range end"]]) {
    await field.fill(time);
    await field.press("Enter");
    await page.getByRole("button", { name: edge }).press("Enter");
    await expect(page.getByRole("button", { name: edge })).toBeFocused();
  }
  await expect(range).toContainText(/0:02\.0\d – 0:04\.0\d/);
  await page.keyboard.press("x");
  await expect(range).toBeHidden();

  const canvas = page.getByRole("slider", { name: "Time" });
  await canvas.scrollIntoViewIfNeeded();
  const { x, y, width } = await canvas.boundingBox();
  const { duration } = await (await fetch(`${service.url}/videos/${id}`)).json();
  await page.keyboard.down("Shift");
  await page.mouse.move(x + width * 0.25, y + 30);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.4, y + 30, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await expect(range).toBeVisible();
  const [start, end] = new URL(page.url()).hash.match(/range=([\d.]+)-([\d.]+)/).slice(1).map(Number);
  expect(start / duration).toBeCloseTo(0.25, 1);
  expect(end / duration).toBeCloseTo(0.4, 1);
  // The picture follows the edge.
  await expect.poll(async () => (await player(page)).t).toBeCloseTo(end, 1);
  // Without Shift, dragging scrubs.
  await page.mouse.move(x + width * 0.5, y + 10);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.75, y + 10, { steps: 4 });
  await expect.poll(async () => (await player(page)).t / duration).toBeCloseTo(0.75, 1);
  await page.mouse.up();
});

test("range edges are dragged, and a double-clicked lane item becomes the range", async ({ page, service }) => {
  await open(page, service, "?range=12-20");
  const canvas = page.getByRole("slider", { name: "Time" });
  await canvas.scrollIntoViewIfNeeded();
  const { x, y, width } = await canvas.boundingBox();
  const duration = await page.evaluate(() => document.querySelector("video").duration);
  const at = (t) => x + (t / duration) * width;
  const range = () => new URL(page.url().replace("#/", "")).searchParams.get("range").split("-").map(Number);
  await page.mouse.move(at(20), y + 40);
  await expect(canvas).toHaveCSS("cursor", "ew-resize");
  await page.mouse.down();
  await page.mouse.move(at(30), y + 40, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => range()[1]).toBeGreaterThan(29);
  expect(range()[0]).toBe(12);
  expect(range()[1]).toBeLessThan(31);
  // An edge dragged past the other swaps with it.
  await page.mouse.move(at(range()[1]), y + 40);
  await page.mouse.down();
  await page.mouse.move(at(5), y + 40, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => range()[1]).toBe(12);
  expect(Math.abs(range()[0] - 5)).toBeLessThan(1);
  // Moments are ten seconds long here, in the Moments lane.
  const lanes = await page.getByRole("list", { name: "Lanes" }).getByRole("listitem").allTextContents();
  await page.mouse.dblclick(at(25), y + 22 + 28 * lanes.indexOf("Moments") + 10);
  await expect.poll(range).toEqual([20, 30]);
});

test("a paused player stays paused when seeking", async ({ page, service }) => {
  await open(page, service);
  const canvas = page.getByRole("slider", { name: "Time" });
  const { width } = await canvas.boundingBox();
  await page.keyboard.press("Space");
  await expect.poll(async () => (await player(page)).paused).toBe(false);
  await canvas.click({ position: { x: width * 0.4, y: 8 } });
  await expect.poll(async () => (await player(page)).paused).toBe(false);
  await page.keyboard.press("k");
  await expect.poll(async () => (await player(page)).paused).toBe(true);
  const { t } = await player(page);
  await canvas.click({ position: { x: width * 0.7, y: 8 } });
  await expect.poll(async () => (await player(page)).t).toBeGreaterThan(t + 1);
  expect((await player(page)).paused).toBe(true);
});

test("the copied link leads to the range if there is one", async ({ page, service }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, service, "?t=20&range=12-13.5");
  await openTimeMenu(page);
  await page.getByRole("button", { name: "Copy link to range" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/\?t=12&range=12-13\.5$/);
  await page.keyboard.press("x");
  await openTimeMenu(page);
  await page.getByRole("button", { name: "Copy link", exact: true }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/\?t=[\d.]+$/);
});

test("a failed seek is reported, and the video plays from the beginning", async ({ page, service }) => {
  await open(page, service, "?t=30");
  await page.evaluate(() => document.querySelector("video").dispatchEvent(new Event("error")));
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("cannot seek to this position");
  const button = alert.getByRole("button", { name: "Play from the beginning" });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page, `a place that is not played, ${colorScheme}`);
    // axe does not check contrast over a video.
    const [colour, behind] = await button.evaluate((element) => {
      const { color, backgroundColor } = getComputedStyle(element);
      return [color, backgroundColor];
    });
    expect(colour).not.toBe(behind);
  }
  await button.click();
  await expect(alert).toBeHidden();
  await expect.poll(async () => (await player(page)).paused).toBe(false);
  expect((await player(page)).t).toBeLessThan(20);

  // A linked moment is played as a clip instead.
  await open(page, service, "?t=20&until=24");
  await page.evaluate(() => document.querySelector("video").dispatchEvent(new Event("error")));
  await alert.getByRole("button", { name: "Play this moment" }).click();
  const clip = page.locator('video[src*="/clip?"][src*="end=24"]');
  await expect.poll(() => clip.evaluate(({ duration, currentTime }) => duration > 1 && currentTime > 0)).toBe(true);
  await expect(alert).toBeHidden();
});

test("a range is saved as a clip, and its log is exported", async ({ page, service }) => {
  await open(page, service, "?range=12-13.5");
  const range = page.getByRole("group", { name: "Range" });
  const cut = page.waitForEvent("download");
  await range.getByRole("button", { name: "Save clip" }).click();
  const clip = await cut;
  expect(clip.suggestedFilename()).toBe("shotlog-sample-12s-13.5s.mp4");
  await expect(page.getByText("Clip 0:12–0:13.5 saved to downloads.")).toBeVisible();
  const bytes = await readFile(await clip.path());
  expect(bytes.subarray(4, 8).toString()).toBe("ftyp");
  await openTimeMenu(page);
  await page.getByText("Export range", { exact: true }).click();
  // An open menu covers the content behind it.
  await expectAccessible(page, "export of a range", "details[open]:has(summary.button)");
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "Table (CSV)" }).click();
  const table = await saved;
  expect(table.suggestedFilename()).toBe("shotlog-sample-0m12.00s-0m13.50s.csv");
  expect((await readFile(await table.path(), "utf8")).trim().split("\n")).toHaveLength(2);

  // An invalid range shows why.
  await open(page, service, "?range=12-9000");
  await range.getByRole("button", { name: "Save clip" }).click();
  await expect(page.getByText("it must lie within the video")).toBeVisible();

  await page.getByText("Export", { exact: true }).click();
  const original = page.waitForEvent("download");
  await page.getByRole("link", { name: "Original file" }).click();
  const whole = await original;
  expect(whole.suggestedFilename()).toBe("shotlog-sample.mp4");
  expect(await readFile(await whole.path())).toEqual(await readFile(sample));
});

test("hidden lanes stay hidden", async ({ page, service }) => {
  await open(page, service);
  const lanes = page.getByRole("list", { name: "Lanes" });
  await expect(lanes).toContainText("Moments");
  await page.getByText("Lanes", { exact: true }).click();
  await page.getByRole("checkbox", { name: "Moments" }).uncheck();
  await expect(lanes).not.toContainText("Moments");
  await expectAccessible(page, "lanes", "section[aria-label=Timeline]");
  await page.reload();
  await expect(lanes).toBeVisible();
  await expect(lanes).not.toContainText("Moments");
});

test("lanes keep their custom order", async ({ page, service }) => {
  await open(page, service);
  const names = () => page.getByRole("list", { name: "Lanes" }).getByRole("listitem").allTextContents();
  await expect.poll(async () => (await names()).slice(0, 2)).toEqual(["Chapters", "Moments"]);
  await page.getByText("Lanes", { exact: true }).click();
  await page.getByRole("button", { name: "Move Moments up" }).click();
  await expect.poll(async () => (await names()).slice(0, 2)).toEqual(["Moments", "Chapters"]);
  // The menu stays open, and focus stays on the lane's button.
  await expect(page.getByRole("button", { name: "Move Moments up" })).toHaveAttribute("aria-disabled", "true");
  await expectAccessible(page, "order of lanes", "section[aria-label=Timeline]");
  await page.reload();
  await expect.poll(async () => (await names()).slice(0, 2)).toEqual(["Moments", "Chapters"]);
});

test("a moment stops at its end and continues on request", async ({ page, service }) => {
  await open(page, service);
  await page.getByLabel("Speed").selectOption("2");
  await page.locator("#moments .moment").nth(1).click();
  await expect(page).toHaveURL(/t=10&until=20/);
  const stops = page.getByText("Stops at 0:20");
  await expect(stops).toBeVisible();
  await expectAccessible(page, "a moment that stops");
  // Continue before the end cancels the stop.
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(stops).toBeHidden();
  await expect.poll(async () => (await player(page)).t, { timeout: 20_000 }).toBeGreaterThan(20.5);
  expect((await player(page)).paused).toBe(false);

  // A link stops there too, and then offers to continue.
  await page.keyboard.press("k");
  await open(page, service, "?t=18.5&until=20");
  await expect.poll(async () => (await player(page)).t).toBeGreaterThanOrEqual(18.5);
  await page.evaluate(() => document.querySelector("video").play());
  await expect(page.getByText("Stopped at the end")).toBeVisible({ timeout: 20_000 });
  await expect.poll(async () => (await player(page)).t).toBeLessThan(20);
  const { paused, t } = await player(page);
  expect(paused).toBe(true);
  expect(t).toBeGreaterThan(19.9);
  await page.getByRole("button", { name: "Continue" }).click();
  await expect.poll(async () => (await player(page)).t).toBeGreaterThan(20.8);
  await expect(page.getByRole("button", { name: "Continue" })).toBeHidden();
  await page.keyboard.press("k");
  await page.getByLabel("Speed").selectOption("1");
});

test("a link to a range plays only the range", async ({ page, service }) => {
  await page.goto(`${service.url}/#/videos/${id}?t=12&range=12-13.5`);
  await expect(page.getByText("Stopped at the end")).toBeVisible({ timeout: 20_000 });
  await expect.poll(async () => (await player(page)).t).toBeLessThan(13.5);
  // The same applies if the video is already open.
  await page.evaluate(() => (location.hash = location.hash.replace(/\?.*/, "?t=30")));
  await expect.poll(async () => (await player(page)).t).toBeGreaterThanOrEqual(30);
  await page.evaluate(() => (location.hash = location.hash.replace(/\?.*/, "?t=12&range=12-13.5")));
  await expect(page.getByText("Stops at 0:13")).toBeVisible();
  await expect(page.getByText("Stopped at the end")).toBeVisible({ timeout: 20_000 });
});

test("a search result stops at its end", async ({ page, service }) => {
  await page.goto(`${service.url}/#/search?q=people`);
  await page.locator(".hits .thumb").first().click();
  await page.evaluate(() => {
    const video = document.querySelector("video");
    video.playbackRate = 4;
    video.muted = true;
    return video.play();
  });
  await expect(page.getByText("Stopped at the end")).toBeVisible({ timeout: 20_000 });
  const at = (await player(page)).t;
  await page.getByRole("button", { name: "Continue" }).click();
  await expect.poll(async () => (await player(page)).t).toBeGreaterThan(at + 0.5);
});

test("the sound lane is requested once and can be hidden", async ({ page, service }) => {
  const answers = [];
  await page.route(/\/peaks\?/, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    answers.push(answer.peaks);
    // Silence, then full level, so that the drawing is known.
    await route.fulfill({ response, json: { ...answer, peaks: answer.peaks.map((_, at) => (2 * at < answer.peaks.length ? 0 : 0.5)) } });
  });
  await open(page, service);
  const lanes = page.getByRole("list", { name: "Lanes" });
  const names = () => lanes.getByRole("listitem").allTextContents();
  await expect.poll(names).toContain("Sound");
  const row = (await names()).indexOf("Sound");
  /**
   * Whether the waveform fills the lane at fractions of its width: its top has the colour of its middle.
   */
  const filled = () => page.getByRole("slider", { name: "Time" }).evaluate((canvas, place) => {
    const scale = canvas.width / canvas.clientWidth;
    const colour = (part, y) => canvas.getContext("2d").getImageData(part * canvas.width, y * scale, 1, 1).data.join();
    const top = 22 + place * 28;
    return [0.2, 0.4, 0.6, 0.8].map((part) => colour(part, top + 2) === colour(part, top + 11));
  }, row);
  await expect.poll(filled).toEqual([false, false, true, true]);
  expect(answers).toHaveLength(1);
  // The service's peaks: speech is loud and pauses are quiet.
  expect(Math.max(...answers[0])).toBeGreaterThan(0.1);
  expect(Math.min(...answers[0])).toBeLessThan(0.05);

  await page.getByText("Lanes", { exact: true }).click();
  await page.getByRole("checkbox", { name: "Sound" }).uncheck();
  await expect.poll(names).not.toContain("Sound");
  await page.reload();
  await expect.poll(names).toContain("Moments");
  await expect.poll(() => answers.length).toBe(2);
  expect(await names()).not.toContain("Sound");
});

test("an audio file says that it has no picture, and requests and offers no frames", async ({ page, service }) => {
  const id = await longVideo(page);
  const requests = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await page.goto(`${service.url}/#/videos/${id}`);
  await expect(page.locator("#moments .moment").first()).toContainText("♪");
  await page.getByRole("slider", { name: "Time" }).hover();
  await openTimeMenu(page);
  await expect(page.getByRole("button", { name: "Copy link" })).toBeVisible();
  await expect(page.getByText("Save frame")).toHaveCount(0);
  await expect(page.getByText("Sound recording: no picture")).toBeVisible();
  expect(requests.filter((path) => /frames|storyboard/.test(path))).toEqual([]);
});

test("a silent video has no sound lane", async ({ page, service }) => {
  let requests = 0;
  await page.route(/\/peaks\?/, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    await route.fulfill({ response, json: { ...answer, peaks: answer.peaks.map(() => 0.001) } });
    requests += 1;
  });
  await open(page, service);
  await expect.poll(() => requests).toBe(1);
  await expect(page.getByRole("list", { name: "Lanes" })).toContainText("Moments");
  await expect(page.getByRole("list", { name: "Lanes" })).not.toContainText("Sound");
});

test("the help lists the keyboard shortcuts", async ({ page, service }) => {
  await open(page, service);
  await page.keyboard.press("?");
  const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  for (const what of ["Play / pause", "Previous / next frame", "Set range start / end"]) await expect(list).toContainText(what);
});
