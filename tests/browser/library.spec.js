// The library with thousands of videos: filters, sorting and bulk actions.
import { expect, expectAccessible, test } from "./fixtures.js";

const COUNT = 3000;
const id = (n) => n.toString(16).padStart(16, "0");
const video = (n) => ({
  video_id: id(n),
  filename: `clip ${String(n).padStart(4, "0")}.mp4`,
  video_url: "/storage/none.mp4",
  poster_url: null,
  duration: 10 + ((n * 37) % 500),
  chunks: 3,
  chunk_config: "interval=10",
  analyzers: n % 3 ? ["default_video"] : ["default_video", "transcript"],
  ...(n % 10 ? {} : { collection: "news" }),
  synopsis: `Somebody opens door ${n}.`,
});

// Mocks a service that lists mockVideos videos, newest first, by cursor.
async function mockVideos(page, videos) {
  const requests = [];
  await page.route((url) => url.pathname === "/videos", (route) => {
    const { searchParams } = new URL(route.request().url());
    requests.push(searchParams.toString());
    const from = Number(searchParams.get("cursor") ?? 0);
    const to = from + Number(searchParams.get("limit") ?? videos.length);
    return route.fulfill({ json: { videos: videos.slice(from, to), total: videos.length, ...(to < videos.length ? { next: String(to) } : {}) } });
  });
  return requests;
}

const tiles = (page) => page.getByRole("listitem").filter({ has: page.getByRole("link", { name: /^Open clip/ }) });

test("thousands of videos load by page, and few are rendered", async ({ page, service }) => {
  const requests = await mockVideos(page, Array.from({ length: COUNT }, (_, n) => video(n)));
  await page.goto(service.url);
  await expect(page.getByRole("heading", { name: "3,000 videos" })).toBeVisible();
  expect(requests.length).toBeGreaterThan(5);
  expect(requests[0]).not.toContain("cursor");
  await expect(tiles(page).first()).toContainText("Somebody opens door 0.");
  expect(await tiles(page).count()).toBeLessThan(100);
  // The page height is an estimate until all rows have been rendered.
  await expect.poll(async () => {
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    return page.getByRole("link", { name: /^Open clip 2999/ }).isVisible();
  }).toBe(true);
  expect(await tiles(page).count()).toBeLessThan(100);
  await page.evaluate(() => window.scrollTo(0, 0));

  await page.getByLabel("Sort by").selectOption("Longest first");
  await expect(tiles(page).first()).toContainText(/clip \d+\.mp4/);
  await expect(tiles(page).first()).toContainText("8:29");
  await page.getByLabel("Collection", { exact: true }).selectOption("news (300)");
  await expect(page.getByRole("heading", { name: "300 of 3,000 videos" })).toBeVisible();
  await page.getByLabel("Analysed for").selectOption("Speech (1,000)");
  await expect(page.getByRole("heading", { name: "100 of 3,000 videos" })).toBeVisible();
  await expectAccessible(page, "thousands");
});

test("several videos are moved to a collection, refreshed and deleted at once", async ({ page, service }) => {
  const videos = Array.from({ length: 12 }, (_, n) => video(n));
  await mockVideos(page, videos);
  const done = [];
  await page.route(/\/videos\/[0-9a-f]{16}(\/aggregates.*)?$/, async (route) => {
    const request = route.request();
    const [, one, rest] = new URL(request.url()).pathname.match(/\/videos\/(\w+)(\/\w+)?/);
    done.push([request.method(), Number.parseInt(one, 16), request.postData()]);
    if (request.method() === "PATCH" && one === id(2)) return route.fulfill({ status: 403, json: { detail: "not yours" } });
    if (rest) return route.fulfill({ status: 202, json: { job_id: "3".repeat(32), status: "queued", video_id: one } });
    if (request.method() === "DELETE") videos.splice(videos.findIndex(({ video_id: known }) => known === one), 1);
    return route.fulfill({ json: { ...video(Number.parseInt(one, 16)), deleted: true, objects: [], storage_error: null } });
  });
  await page.goto(service.url);
  for (const n of [1, 2, 3]) await page.getByLabel(`Select clip 000${n}.mp4`).check();
  const bar = page.getByRole("group", { name: "Selected videos" });
  await expect(bar).toContainText("3 videos selected");
  await expectAccessible(page, "selected");
  await bar.getByRole("button", { name: "Move to collection…" }).click();
  const dialog = page.getByRole("dialog");
  await expectAccessible(page, "collection", "dialog");
  await dialog.getByLabel(/^Collection/).fill("sport");
  await dialog.getByRole("button", { name: "Move" }).click();
  await expect(page.getByText("Failed for 1 video: not yours")).toBeVisible();
  await expect(bar).toContainText("1 video selected");
  expect(done.map(([method, n, body]) => [method, n, body]).toSorted((a, b) => a[1] - b[1]))
    .toEqual([1, 2, 3].map((n) => ["PATCH", n, JSON.stringify({ collection: "sport" })]));

  done.length = 0;
  await page.getByLabel("Select clip 0004.mp4").check();
  await bar.getByRole("button", { name: "Refresh summary…" }).click();
  await dialog.getByRole("button", { name: "Refresh summary" }).click();
  await expect(bar).toBeHidden();
  expect(done.map(([method, n]) => [method, n])).toEqual([["POST", 2], ["POST", 4]]);

  done.length = 0;
  await page.getByLabel("Select clip 0000.mp4").check();
  await bar.getByRole("button", { name: "Select all 12" }).click();
  await bar.getByRole("button", { name: "Delete…" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  expect(done.filter(([method]) => method === "DELETE")).toHaveLength(12);
});

test("a video added by another user appears automatically", async ({ page, service }) => {
  const videos = [video(1)];
  await mockVideos(page, videos);
  const job = { job_id: "4".repeat(32), source: "clip 0002.mp4", status: "running", stage: "analyzing", detail: {}, result: null, error: null, created_at: "2026-01-31T12:00:00Z", updated_at: "2026-01-31T12:00:00Z" };
  await page.route((url) => url.pathname === "/jobs", (route) => route.fulfill({ json: { jobs: [job], total: 1 } }));
  await page.route(/\/jobs\/\w+\/events$/, (route) => route.fulfill({ status: 404, json: { detail: "none" } }));
  await page.goto(service.url);
  await expect(tiles(page)).toHaveCount(1);
  videos.unshift(video(2));
  Object.assign(job, { status: "done", stage: "complete", result: { video_id: id(2) } });
  await expect(tiles(page)).toHaveCount(2);
});

test("videos come first, and the panel that adds more opens on demand", async ({ page, service }, testInfo) => {
  await mockVideos(page, [video(1), video(2)]);
  await page.goto(service.url);
  await expect(tiles(page)).toHaveCount(2);
  const panel = page.locator("form.card");
  await expect(panel).toHaveCount(0);
  const url = page.getByRole("button", { name: "From a URL" });
  await url.press("Enter");
  await expect(page.getByLabel("From a URL")).toBeFocused();
  await expectAccessible(page, "adding to a library");
  await page.getByRole("button", { name: "Cancel", exact: true }).press("Enter");
  await expect(panel).toHaveCount(0);
  await expect(page.getByLabel("Choose files")).toBeFocused();
  // Chosen and dropped files open the panel, which closes once they are in the queue.
  await page.route(/\/uploads/, () => {});
  const film = { name: "new clip.mp4", mimeType: "video/mp4", buffer: Buffer.from("no film") };
  await page.getByLabel("Choose files").setInputFiles(film);
  await expect(panel).toContainText("new clip.mp4");
  await expect(page.getByRole("button", { name: "Add", exact: true })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(panel).toHaveCount(0);
  const upload = page.getByRole("listitem").filter({ hasText: "new clip.mp4" });
  await expect(upload).toContainText("Uploading");
  const data = await page.evaluateHandle(() => {
    const carried = new DataTransfer();
    carried.items.add(new File(["no film"], "dropped.mp4", { type: "video/mp4" }));
    return carried;
  });
  await page.dispatchEvent("h1", "dragover", { dataTransfer: data });
  await expect(page.getByText("Drop files to add them")).toBeVisible();
  await page.dispatchEvent("h1", "drop", { dataTransfer: data });
  await expect(panel).toContainText("dropped.mp4");
  await page.getByRole("button", { name: "Cancel", exact: true }).press("Enter");
  await expect(panel).toHaveCount(0);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `videos first at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`library-${width}.png`) });
  }
});

test("running jobs are above the uploads, each in one line with its stage", async ({ page, service }, testInfo) => {
  await mockVideos(page, [video(1)]);
  const job = (n, more) => ({ job_id: String(n).repeat(32), source: `film ${n}.mp4`, stage: "starting", detail: {}, result: null, error: null, created_at: "2026-01-31T12:00:00Z", updated_at: "2026-01-31T12:00:00Z", ...more });
  const jobs = [job(1, { status: "queued" }), job(2, { status: "running", stage: "analyzing", detail: { analyzer: "ocr", done: 3, total: 12 } })];
  await page.route((url) => url.pathname === "/jobs", (route) => route.fulfill({ json: { jobs, total: 2 } }));
  await page.route(/\/jobs\/\w+\/events$/, (route) => route.fulfill({ status: 404, json: { detail: "none" } }));
  await page.route(/\/uploads/, () => {});
  await page.goto(service.url);
  await page.getByLabel("Choose files").setInputFiles({ name: "film 3.mp4", mimeType: "video/mp4", buffer: Buffer.from("no film") });
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const lines = page.getByRole("region", { name: "In progress" }).getByRole("listitem");
  await expect(lines).toHaveText([/film 2\.mp4\s*Analysing · .*3 of 12 moments\s*Cancel/, /film 1\.mp4\s*Waiting in queue\s*Cancel/, /film 3\.mp4\s*Uploading/]);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `lines at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`lines-${width}.png`) });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  const heights = await lines.evaluateAll((all) => all.map((one) => one.offsetHeight));
  expect(Math.max(...heights)).toBeLessThan(64);
});

test("an empty library says what to do, and what is not recognised with the remedy", async ({ page, service }, testInfo) => {
  await mockVideos(page, []);
  const real = await (await fetch(`${service.url}/health`)).json();
  await page.route((url) => url.pathname === "/health", (route) => route.fulfill({ json: { ...real, sees: ["objects", "people"], see_more: { models: "get the models" } } }));
  await page.goto(service.url);
  await expect(page.getByText("This service recognises objects and people. It does not recognise: on-screen text, speech, similar pictures. For more, get the missing models (shotlog models --fetch).")).toBeVisible();
  await expect(page.getByText("Drop a video anywhere on this page, or paste its URL.")).toBeVisible();
  await expect(page.locator(".steps").getByRole("listitem")).toHaveCount(3);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `empty at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`empty-${width}.png`), fullPage: true });
  }
});

test("an empty library adds the sample clip with one click", async ({ page, service }) => {
  const newest = async () => (await (await fetch(`${service.url}/jobs`)).json()).jobs.find(({ source }) => source === "shotlog-sample.mp4");
  await page.goto(service.url);
  const button = page.getByRole("button", { name: /^Add the sample clip \([\d.]+ MB\)$/ });
  await expect(button).toBeVisible();
  await expectAccessible(page, "empty");
  await button.click();
  await expect.poll(newest, { timeout: 30_000 }).toBeTruthy();
  await expect(page.getByRole("listitem").filter({ hasText: "shotlog-sample.mp4" }).first()).toBeVisible();
  const { job_id: id } = await newest();
  await fetch(`${service.url}/jobs/${id}`, { method: "DELETE" });
  await expect.poll(async () => (await newest()).status, { timeout: 60_000 }).not.toMatch(/queued|running/);
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

test("without a sample clip the empty library offers none", async ({ page, service }) => {
  await mockVideos(page, []);
  await page.route("**/sample", (route) => route.fulfill({ status: 204 }));
  await page.goto(service.url);
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  await expect(page.getByRole("button", { name: "Add", exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: /sample clip/ })).toHaveCount(0);
});

test("a failed job is dismissed, also for the next visit", async ({ page, service }) => {
  await mockVideos(page, [video(1)]);
  const id = "5".repeat(32);
  const job = { job_id: id, source: "broken.mp4", status: "failed", stage: "starting", detail: {}, result: null, error: "ValueError: not a media file", created_at: "2026-01-31T12:00:00Z", updated_at: "2026-01-31T12:00:00Z" };
  await page.route((url) => url.pathname === "/jobs", (route) => route.fulfill({ json: { jobs: [job], total: 1 } }));
  await page.goto(service.url);
  await page.evaluate((started) => localStorage.setItem("shotlog.started", JSON.stringify({ [started]: { source: { upload_id: "u" }, options: {} } })), id);
  await page.reload();
  const card = page.getByRole("listitem").filter({ hasText: "broken.mp4" });
  await expect(card).toHaveCount(1);
  await card.getByRole("button", { name: "Dismiss broken.mp4" }).press("Enter");
  await expect(card).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("heading", { name: "1 video" })).toBeVisible();
  await expect(card).toHaveCount(0);
});
