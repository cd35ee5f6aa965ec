// Bins: moments are collected, ordered, trimmed, played and exported, against the real service.
import { createBinOf, deleteBins, ingest, rows, selectsOf, send, startsOf, tick, toast } from "./bins.js";
import { expect, expectAccessible, openHitMenu, test } from "./fixtures.js";
import { startService } from "./service.js";

let id;
test.beforeAll(async ({ service }) => { id = await ingest(service.url); });
// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  await fetch(`${service.url}/videos/${id}`, { method: "DELETE" });
  await deleteBins(service);
});
test.beforeEach(({ service }) => deleteBins(service));

const createBin = (service, starts, name) => createBinOf(service, id, starts, name);
const shownStarts = (page) => rows(page).locator(".where .time:nth-of-type(2)").allTextContents();
/** The media elements of the string-out: whether each is shown, what it plays and where it is. */
const media = (page) => page.evaluate(() => [...document.querySelectorAll(".screen video")].map((one) => ({
  active: one.classList.contains("active"), paused: one.paused, t: one.currentTime, src: one.src, seeking: one.seeking,
})));
const active = async (page) => (await media(page)).find((one) => one.active);

test("five moments are collected from a search, ordered, trimmed and noted", async ({ page, service }, testInfo) => {
  await page.goto(`${service.url}/#/bins`);
  await expect(page.getByRole("heading", { name: "No bins yet" })).toBeVisible();
  await expectAccessible(page, "no bins");
  await expect(page.getByRole("link", { name: "Search for moments" })).toHaveAttribute("href", "#/search");
  await page.goto(`${service.url}/#/search?video=${id}`);
  const hits = page.locator(".hits > li");
  const add = (index) => hits.nth(index).getByRole("button", { name: "Add to bin" });
  await add(0).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Add 1 moment to bin" });
  await expect(dialog.getByRole("button", { name: "Create" })).toBeDisabled();
  await expectAccessible(page, "the picker of bins");
  await dialog.getByLabel("New bin").fill("Harbour");
  await dialog.getByLabel("New bin").press("Enter");
  await expect(dialog).toBeHidden();
  await expect(toast(page)).toContainText("Added to “Harbour”.");
  await expectAccessible(page, "a toast with actions");
  // The bin is remembered: one click, or the key B on a result.
  await add(1).click();
  await expect(toast(page)).toContainText("Added to “Harbour”.");
  await hits.nth(2).locator(".thumb").focus();
  await page.keyboard.press("b");
  const { bins: [{ bin_id: bin }] } = await (await fetch(`${service.url}/bins`)).json();
  await expect.poll(() => startsOf(service, bin)).toHaveLength(3);
  await toast(page).getByRole("button", { name: "Undo" }).click();
  await expect(toast(page)).toContainText("Removed from “Harbour” again.");
  expect(await startsOf(service, bin)).toHaveLength(2);
  for (const index of [2, 3, 4]) {
    await add(index).click();
    await expect.poll(() => startsOf(service, bin)).toHaveLength(index + 1);
  }
  // Another bin is picked from the toast.
  await add(5).click();
  await expect.poll(() => startsOf(service, bin)).toHaveLength(6);
  await toast(page).getByRole("button", { name: "Other bin…" }).click();
  await expect(dialog.getByRole("list", { name: "Bins" })).toContainText("last used");
  await page.keyboard.press("Escape");
  await expect.poll(() => startsOf(service, bin)).toEqual([0, 5, 10, 15, 20]);

  await page.getByRole("navigation").getByRole("link", { name: "Bins" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "Harbour" })).toContainText("5 selects · 0:25");
  await page.getByRole("link", { name: "Harbour" }).click();
  await expect(page).toHaveTitle("Harbour · Shotlog");
  await expect(rows(page)).toHaveCount(5);

  // Order: by key, by drag and drop, and several at once.
  const grip = (position) => page.getByRole("button", { name: `Move select ${position}.` });
  await grip(1).press("Alt+ArrowDown");
  await expect.poll(() => startsOf(service, bin)).toEqual([5, 0, 10, 15, 20]);
  await expect(page.getByText("Moved to position 2 of 5.")).toBeAttached();
  await expect(grip(2)).toBeFocused();
  await page.keyboard.press("Alt+ArrowUp");
  await expect.poll(() => startsOf(service, bin)).toEqual([0, 5, 10, 15, 20]);
  // All rows are in view, so that the list does not scroll during the drag.
  await page.setViewportSize({ width: 1280, height: 1300 });
  await grip(5).dragTo(rows(page).first(), { targetPosition: { x: 300, y: 4 } });
  await expect.poll(() => startsOf(service, bin)).toEqual([20, 0, 5, 10, 15]);
  // The page shows the new order a little later than the service has it.
  await expect(rows(page).first()).toContainText("0:20");
  await page.setViewportSize({ width: 1280, height: 800 });
  await tick(page, "Choose select 2");
  // The bar of actions moves the rows down.
  const tools = page.getByRole("group", { name: "Actions for the chosen selects" });
  await expect(tools).toContainText("1 select chosen");
  await tick(page, "Choose select 4");
  await expect(tools).toContainText("2 selects chosen");
  // The bar covers nothing at the top.
  await page.evaluate(() => scrollTo(0, 0));
  await expectAccessible(page, "chosen selects");
  await tools.getByRole("button", { name: "Move to bottom" }).press("Enter");
  await expect.poll(() => startsOf(service, bin)).toEqual([20, 5, 15, 0, 10]);
  await tools.getByRole("button", { name: "Move to top" }).press("Enter");
  await expect.poll(() => startsOf(service, bin)).toEqual([0, 10, 20, 5, 15]);
  await tools.getByRole("button", { name: "Remove" }).press("Enter");
  await expect.poll(() => startsOf(service, bin)).toEqual([20, 5, 15]);
  await expect(rows(page)).toHaveCount(3);
  await expect(toast(page)).toContainText("Removed 2 selects.");
  await page.keyboard.press("Control+z");
  await expect.poll(() => startsOf(service, bin)).toEqual([0, 10, 20, 5, 15]);
  await expect(rows(page)).toHaveCount(5);
  // Its undo would now undo an earlier change.
  await expect(toast(page)).toBeHidden();

  // Texts, rating and trim.
  const first = rows(page).first();
  await first.getByLabel("Note").fill("The boat leaves");
  await first.getByLabel("Note").press("Enter");
  await first.getByLabel("Tags").fill("b-roll, boats");
  await first.getByLabel("Tags").press("Tab");
  await first.getByLabel("Rating").selectOption("4");
  await expect.poll(async () => (await selectsOf(service, bin))[0]).toMatchObject({ note: "The boat leaves", tags: ["b-roll", "boats"], rating: 4 });
  await first.getByText("Trim and split").click();
  await first.getByLabel("In", { exact: true }).fill("4:00");
  await first.getByLabel("In", { exact: true }).press("Enter");
  await expect(first.getByRole("alert")).toContainText("Enter times such as");
  await first.getByLabel("In", { exact: true }).fill("0:01.250");
  await first.getByLabel("Out", { exact: true }).fill("0:03.5");
  await first.getByLabel("Out", { exact: true }).press("Enter");
  await expect.poll(async () => (await selectsOf(service, bin))[0]).toMatchObject({ in: 1.25, out: 3.5 });
  await expect(first).toContainText("2.3 s");
  await expectAccessible(page, "an open select");
  await page.screenshot({ path: testInfo.outputPath("bin.png"), fullPage: true });
  await first.getByRole("button", { name: "Reset trim" }).click();
  await expect.poll(async () => (await selectsOf(service, bin))[0]).toMatchObject({ in: null, out: null });
  await page.getByRole("button", { name: "Undo", exact: true }).first().click();
  await expect.poll(async () => (await selectsOf(service, bin))[0]).toMatchObject({ in: 1.25, out: 3.5 });

  // Export, rename and delete.
  await page.getByText("Export", { exact: true }).click();
  for (const [name, format] of [["Final Cut Pro (FCPXML)", "fcpxml"], ["DaVinci Resolve, markers (EDL)", "markers.edl"], ["Quotes (Word)", "quotes.docx"], ["Captions of the string-out (SRT)", "srt"]])
    await expect(page.getByRole("link", { name })).toHaveAttribute("href", `${service.url}/bins/${bin}/export?format=${format}`);
  const clips = page.getByRole("link", { name: "Selects as clips (ZIP)" });
  await expect(clips).toHaveAttribute("href", `${service.url}/bins/${bin}/clips`);
  const video = page.getByRole("link", { name: "Video (MP4)" });
  await expect(video).toHaveAttribute("href", `${service.url}/bins/${bin}/string-out`);
  // The menu covers parts of links below it.
  await expectAccessible(page, "the export menu of a bin", ".head details[open]");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Rename or describe…" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Port");
  await page.getByRole("dialog").getByLabel("Description").fill("For the evening news");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Port" })).toBeVisible();
  await expect(page.getByText("For the evening news")).toBeVisible();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog", { name: "Delete “Port”?" }).getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("heading", { name: "No bins yet" })).toBeVisible();
});

test("a string-out swaps players at each out point", async ({ page, service }) => {
  const bin = await createBin(service, [10, 3, 20]);
  await page.goto(`${service.url}/#/bins/${bin}`);
  await page.getByRole("button", { name: "Play string-out" }).click();
  await expect.poll(async () => (await media(page)).filter(({ src }) => src).length).toBe(3);
  const before = (await media(page)).findIndex((one) => one.active);
  await expect.poll(async () => (await active(page)).t).toBeGreaterThanOrEqual(10);
  // The other players wait at the in points of the next selects.
  const waiting = async () => (await media(page)).filter(({ src }, index) => src && index !== before).map(({ paused, t, seeking }) => [paused, t, seeking]).sort((a, b) => a[1] - b[1]);
  await expect.poll(waiting).toEqual([[true, 3, false], [true, 20, false]]);
  await expect(rows(page).first()).toHaveAttribute("aria-current", "true");
  await expect(rows(page).nth(1)).toHaveAttribute("aria-current", "true");
  const [{ src }, after] = [(await media(page))[before], await active(page)];
  expect(after.src).toBe(src);
  expect((await media(page))[before].active).toBe(false);
  expect(after.t).toBeGreaterThanOrEqual(3);
  expect(after.t).toBeLessThan(5.5);
  await expect(page.getByText("End of the string-out")).toBeVisible();

  // Keys and the progress bar.
  await page.keyboard.press("p");
  await expect.poll(async () => (await active(page)).t).toBe(3);
  const bar = page.getByRole("slider", { name: "Position in the string-out" });
  await bar.fill("1.5");
  await expect.poll(async () => (await active(page)).t).toBeCloseTo(11.5, 1);
  await expectAccessible(page, "a string-out");
  await page.keyboard.press("Shift+Tab");
  // In and out points and a split at the playhead.
  await rows(page).first().getByText("Trim and split").click();
  await rows(page).first().getByRole("button", { name: "Split at playhead" }).click();
  await expect.poll(async () => (await selectsOf(service, bin)).map(({ start, end }) => [start, end])).toEqual([[10, 11.5], [11.5, 12], [3, 5], [20, 22]]);
  await expect(rows(page)).toHaveCount(4);
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("n");
  await expect.poll(async () => (await active(page)).t).toBe(11.5);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("i");
  await expect.poll(async () => (await selectsOf(service, bin))[1]).toMatchObject({ in: 6.5 });
});

test("a row shows what is said in its select", async ({ page, service }) => {
  const bin = await createBin(service, [10, 3]);
  const asked = [];
  await page.route((url) => url.pathname === `/videos/${id}/transcript`, (route) => {
    const { searchParams } = new URL(route.request().url());
    asked.push([searchParams.get("after"), searchParams.get("before")]);
    return route.fulfill({ json: { utterances: [{ start: 9, end: 11, text: `The boat leaves at ${searchParams.get("after")}.` }, { start: 11, end: 12, text: "Hurry up!" }] } });
  });
  await page.goto(`${service.url}/#/bins/${bin}`);
  await expect(rows(page).first()).toContainText("The boat leaves at 10. Hurry up!");
  await expect(rows(page).nth(1)).toContainText("The boat leaves at 3.");
  expect(asked).toEqual([["10", "12"], ["3", "5"]]);
});

test("a file that cannot be played is skipped", async ({ page, service }) => {
  const bin = await createBin(service, [10, 3]);
  const selects = await selectsOf(service, bin);
  await page.route((url) => url.pathname === `/bins/${bin}/selects`, (route) => route.fulfill({
    json: { bin_id: bin, version: 2, total: 2, offset: 0, limit: 100, selects: [{ ...selects[0], video_url: `${service.url}/favicon.svg` }, selects[1]] },
  }));
  await page.goto(`${service.url}/#/bins/${bin}`);
  await page.getByRole("button", { name: "Play string-out" }).click();
  await expect(page.getByText("Select 1 (shotlog-sample.mp4) cannot be played and was skipped.")).toBeVisible();
  await expect.poll(async () => (await active(page)).t).toBeGreaterThanOrEqual(3);
  await expect(rows(page).nth(1)).toHaveAttribute("aria-current", "true");
});

/** A WAV file with a second of silence: 8000 samples of 8 bits. */
function silence() {
  const rate = 8000;
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + rate, 4);
  head.write("WAVEfmt ", 8);
  for (const [at, value] of [[16, 16], [24, rate], [28, rate], [40, rate]]) head.writeUInt32LE(value, at);
  for (const [at, value] of [[20, 1], [22, 1], [32, 1], [34, 8]]) head.writeUInt16LE(value, at);
  head.write("data", 36);
  return Buffer.concat([head, Buffer.alloc(rate, 128)]);
}

test("a file without a picture plays, too", async ({ page, service }) => {
  const bin = await createBin(service, [10, 3]);
  const selects = await selectsOf(service, bin);
  const sound = { ...selects[0], video_id: "00c0ffee00c0ffee", filename: "sound.wav", video_url: `${service.url}/sound.wav`, start: 0, end: 0.8 };
  const listed = await (await fetch(`${service.url}/videos`)).json();
  const { exact_frame_rate: _, ...video } = listed.videos[0];
  await page.route((url) => url.pathname === "/videos", (route) => route.fulfill({ json: { videos: [...listed.videos, { ...video, video_id: sound.video_id, filename: "sound.wav", poster_url: null }], total: 2 } }));
  await page.route((url) => url.pathname === `/bins/${bin}/selects`, (route) => route.fulfill({ json: { bin_id: bin, version: 2, total: 2, offset: 0, limit: 100, selects: [sound, selects[1]] } }));
  await page.route((url) => url.pathname === "/sound.wav", (route) => route.fulfill({ contentType: "audio/wav", body: silence() }));
  await page.goto(`${service.url}/#/bins/${bin}`);
  await expect(rows(page).first().locator(".thumb")).toContainText("♪");
  await page.getByRole("button", { name: "Play string-out" }).click();
  await expect.poll(async () => (await active(page))?.src).toBe(sound.video_url);
  await expect(page.locator(".screen")).toContainText("♪");
  await expect(rows(page).nth(1)).toHaveAttribute("aria-current", "true");
  await expect.poll(async () => (await active(page)).t).toBeGreaterThan(3);
  await expect(page.getByText("cannot be played")).toHaveCount(0);
});

test("two pages change one bin, and typed text survives", async ({ page, service, context }) => {
  const bin = await createBin(service, [0, 5, 10]);
  const other = await context.newPage();
  for (const one of [page, other]) {
    await one.goto(`${service.url}/#/bins/${bin}`);
    await expect(rows(one)).toHaveCount(3);
  }
  // Changes to different selects do not conflict, and both pages show both.
  await other.getByLabel("Note").nth(1).fill("theirs");
  await other.getByLabel("Note").nth(1).press("Enter");
  await expect.poll(async () => (await selectsOf(service, bin))[1].note).toBe("theirs");
  await page.getByLabel("Note").nth(2).fill("mine");
  await page.getByLabel("Note").nth(2).press("Enter");
  await expect(page.getByLabel("Note").nth(1)).toHaveValue("theirs");
  // The same select: the page loads the other text, and keeps the typed one.
  await other.getByLabel("Note").nth(0).fill("theirs, too");
  await other.getByLabel("Note").nth(0).press("Enter");
  await expect.poll(async () => (await selectsOf(service, bin))[0].note).toBe("theirs, too");
  await page.getByLabel("Note").nth(0).fill("mine, too");
  await page.getByLabel("Note").nth(0).press("Enter");
  await expect(page.getByText("Someone else changed this bin")).toBeVisible();
  await expect(page.getByLabel("Note").nth(0)).toHaveValue("mine, too");
  await expect(rows(page).first()).toContainText("Now: theirs, too");
  await expectAccessible(page, "a note that is not saved");
  expect((await selectsOf(service, bin))[0].note).toBe("theirs, too");
  await rows(page).first().getByRole("button", { name: "Save mine" }).click();
  await expect.poll(async () => (await selectsOf(service, bin))[0].note).toBe("mine, too");
  await expect(page.getByText("Someone else changed this bin")).toBeHidden();
  // The order: the refused move changes nothing.
  await other.getByRole("button", { name: "Remove select 3" }).click();
  await expect(rows(other)).toHaveCount(2);
  await page.getByRole("button", { name: "Move select 1." }).press("Alt+ArrowDown");
  await expect(page.getByText("Someone else changed this bin")).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  expect(await startsOf(service, bin)).toEqual([0, 5]);
  await page.getByRole("button", { name: "Move select 1." }).press("Alt+ArrowDown");
  await expect.poll(() => startsOf(service, bin)).toEqual([5, 0]);
  await expect.poll(() => shownStarts(page)).toEqual(["0:05–0:07", "0:00–0:02"]);
});

test("moments are added from a video and from the sources of an answer", async ({ page, service }) => {
  const bin = await createBin(service, []);
  await page.addInitScript((last) => localStorage.setItem("shotlog.bin", JSON.stringify(last)), { id: bin, name: "Harbour" });
  await page.goto(`${service.url}/#/videos/${id}?range=3.5-6`);
  await expect(page.getByRole("group", { name: "Range" })).toBeVisible();
  await page.getByRole("button", { name: "Add to bin “Harbour”", exact: true }).click();
  await expect.poll(() => startsOf(service, bin)).toEqual([3.5]);
  await page.getByRole("button", { name: "Clear range" }).click();
  await page.getByRole("button", { name: "Add 0:10 to bin" }).click();
  await expect.poll(() => startsOf(service, bin)).toEqual([3.5, 10]);
  await page.locator("#moments .moment").nth(1).click();
  await expect.poll(() => page.evaluate(() => document.querySelector("video").currentTime)).toBeGreaterThanOrEqual(5);
  await page.keyboard.press("k");
  await page.keyboard.press("b");
  await expect.poll(() => startsOf(service, bin)).toEqual([3.5, 10, 5]);
  await toast(page).getByRole("link", { name: "Open" }).click();
  await expect(rows(page)).toHaveCount(3);
  await expect(toast(page)).toBeHidden();
});

test("a bin is a removable scope of searches and questions", async ({ page, service }) => {
  const bin = await createBin(service, [0, 5]);
  const sent = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/query")) sent.push(request.postDataJSON());
  });
  await page.goto(`${service.url}/#/bins/${bin}`);
  await page.getByRole("link", { name: "Search this bin" }).click();
  const chip = page.getByRole("button", { name: "Remove “In bin Harbour”" });
  await expect(chip).toHaveText("In bin Harbour ×");
  await expect.poll(() => sent.at(-1)?.filters).toEqual({ bin });
  await expect(page.locator(".hits > li").first()).toBeVisible();
  await chip.click();
  await expect(chip).toHaveCount(0);
  await expect(page).not.toHaveURL(/filter\.bin/);
  await page.goto(`${service.url}/#/bins/${bin}`);
  await page.getByRole("link", { name: "Ask this bin" }).click();
  await expect(page.getByRole("button", { name: "Remove In bin Harbour" })).toBeVisible();
  await expectAccessible(page, "a question about a bin");
});

test("selects of a missing video are named, and a long bin is loaded by page", async ({ page, service }) => {
  const select = (index, more = {}) => ({
    select_id: `s${index}`, video_id: id, filename: `${index}.mp4`, video_url: `${service.url}/x.mp4`, missing: false, moment_id: "", start: index, end: index + 2,
    in: null, out: null, duration: 2, timecode: "", note: "", tags: [], rating: 0, ...more,
  });
  const bin = { bin_id: "0123456789ab", name: "Long", description: "", version: 7, selects: 10_000, duration: 20_000, created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", undo_steps: 0, last_change: null };
  const offsets = [];
  await page.route((url) => url.pathname.startsWith("/bins/"), (route) => {
    const url = new URL(route.request().url());
    if (!url.pathname.endsWith("/selects")) return route.fulfill({ json: bin });
    const [offset, limit] = ["offset", "limit"].map((name) => Number(url.searchParams.get(name)));
    offsets.push(offset);
    const missing = { missing: true, video_url: null };
    const selects = Array.from({ length: limit }, (_, at) => select(offset + at, offset + at === 1 ? missing : {}));
    return route.fulfill({ json: { bin_id: bin.bin_id, version: 7, total: 10_000, offset, limit, selects } });
  });
  await page.goto(`${service.url}/#/bins/${bin.bin_id}`);
  await expect(rows(page).nth(1)).toContainText("Video is missing");
  // The exports leave it out, and say so.
  await page.getByText("Export", { exact: true }).click();
  await expect(page.getByText(/^Without 1 select|^Without [\d,]+ selects/)).toContainText("whose video is missing.");
  await expect(page.getByRole("link", { name: "Final Cut Pro (FCPXML)" })).toHaveAttribute("href", /format=fcpxml&missing=omit$/);
  await page.keyboard.press("Escape");
  await expect(rows(page).nth(1).getByRole("button", { name: "Play select 2" })).toHaveCount(0);
  expect(await rows(page).count()).toBeLessThan(60);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
  await expect.poll(() => offsets.some((offset) => offset > 4000 && offset < 6000)).toBe(true);
  await expect.poll(() => page.evaluate(() => [...document.querySelectorAll("[data-select]")].some((one) => Number(one.dataset.select.slice(1)) > 4000))).toBe(true);
  expect(offsets.length).toBeLessThan(10);
});

test("a read-only token sees bins without controls", async ({ browser }) => {
  const tokens = '["all-of-it", { token = "only-reads", read_only = true }]';
  const service = await startService({ environment: { SERVICE_AUTH__TOKENS: tokens } });
  const context = await browser.newContext();
  try {
    const headers = { Authorization: "Bearer all-of-it" };
    const json = { ...headers, "Content-Type": "application/json" };
    const video = await ingest(service.url, { headers });
    const { bin_id: bin } = await (await fetch(`${service.url}/bins`, { method: "POST", headers: json, body: JSON.stringify({ name: "Harbour" }) })).json();
    await fetch(`${service.url}/bins/${bin}/selects`, { method: "POST", headers: json, body: JSON.stringify({ selects: [{ video_id: video, start: 1, end: 3, note: "A boat", tags: ["b-roll"], rating: 3 }] }) });
    const page = await context.newPage();
    await page.goto(`${service.url}/#/bins`);
    await page.getByLabel("Access token").fill("only-reads");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("link", { name: "Harbour" })).toBeVisible();
    await expect(page.getByLabel("New bin")).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Delete…" })).toHaveCount(0);
    await page.getByRole("link", { name: "Harbour" }).click();
    await expect(rows(page)).toContainText("A boat");
    await expect(rows(page)).toContainText("b-roll");
    await expect(rows(page).getByRole("textbox")).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Undo" })).toHaveCount(0);
    await expectAccessible(page, "a bin that is read-only");
    await page.getByRole("button", { name: "Play select 1" }).click();
    await expect.poll(async () => (await active(page))?.t).toBeGreaterThan(1);
    await page.goto(`${service.url}/#/search?video=${video}`);
    const menu = await openHitMenu(page);
    await expect(menu.getByRole("menuitem", { name: "Save clip" })).toBeVisible();
    await expect(menu.getByRole("menuitem", { name: "Add to bin" })).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Add to bin" })).toHaveCount(0);
  } finally {
    await context.close();
    await service.stop();
  }
});

for (const [width, colorScheme, locale] of [[360, "dark", "de-DE"], [1280, "light", "en-US"], [1920, "dark", "en-US"], [360, "light", "en-US"], [1920, "light", "de-DE"]]) {
  test.describe(`at ${width} px, ${colorScheme}, ${locale}`, () => {
    test.use({ viewport: { width, height: 900 }, colorScheme, locale, contextOptions: { reducedMotion: "reduce" } });

    test("bins fit and are accessible", async ({ page, service }) => {
      const bin = await createBin(service, [10, 3, 20], "A bin with a rather long name for the evening news");
      await createBin(service, [0]);
      await send(`${service.url}/bins/${bin}/selects/s1`, "PATCH", { note: "The boat leaves the harbour while the fog is lifting.", tags: ["b-roll", "boats"], rating: 4, in: 10.5 });
      const shot = (name) => page.screenshot({ path: test.info().outputPath(`${name}.png`), fullPage: true });
      await page.goto(`${service.url}/#/bins`);
      await expect(page.locator("main li.card")).toHaveCount(2);
      await expectAccessible(page, `bins ${width}`);
      await shot("bins");
      await page.goto(`${service.url}/#/bins/${bin}`);
      await expect(rows(page)).toHaveCount(3);
      await rows(page).first().locator("summary").press("Enter");
      await expect(rows(page).first().getByLabel(locale === "de-DE" ? "Anfang" : "In", { exact: true })).toBeVisible();
      await expectAccessible(page, `bin ${width}`);
      await shot("bin");
      await expect(rows(page).first().getByLabel(locale === "de-DE" ? "Anfang" : "In", { exact: true })).toBeVisible();
      await rows(page).first().locator(".thumb").click();
      await expect.poll(async () => (await active(page))?.t ?? 0).toBeGreaterThan(10);
      await page.keyboard.press("k");
      await expectAccessible(page, `string-out ${width}`);
      await shot("string-out");
      await page.goto(`${service.url}/#/search?video=${id}`);
      await openHitMenu(page);
      await expectAccessible(page, `results ${width}`);
      await shot("results");
      await page.goto(`${service.url}/#/videos/${id}?range=3.5-6`);
      await expect(page.locator("#moments li").nth(2)).toBeVisible();
      await expectAccessible(page, `video ${width}`);
      await shot("video");
    });
  });
}
