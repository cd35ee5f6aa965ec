// The upload queue, and an upload that is interrupted repeatedly.
import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, expectAccessible, test as base } from "./fixtures.js";
import { freePort, sample, startService } from "./service.js";
import { startProxy } from "./proxy.js";

const MEGABYTE = 1024 * 1024;

/** Megabytes of the interrupted upload; `SHOTLOG_UPLOAD_MB=2048` tests two gigabytes. */
const LARGE = Number(process.env.SHOTLOG_UPLOAD_MB ?? 60);

/**
 * An S3 server with empty buckets `shotlog` and `shotlog-records` for all data. A killed service is then
 * replaced by another instance with an empty data folder.
 */
const S3 = process.env.SHOTLOG_UPLOAD_S3;
const bucket = S3 && {
  SERVICE_STORAGE__KIND: "s3", SERVICE_STORAGE__BUCKET: "shotlog", SERVICE_STORAGE__ENDPOINT: S3,
  SERVICE_RECORDS__KIND: "bucket", SERVICE_RECORDS__BUCKET: "shotlog-records",
  SERVICE_STORAGE__ACCESS_KEY_ID: "test", SERVICE_STORAGE__SECRET_ACCESS_KEY: "test",
};

// A service behind a connection that can be cut. It can be killed and restarted with its data.
const test = base.extend({
  service: [async ({}, use) => {
    const folders = [];
    const folder = async () => {
      if (bucket || !folders.length) folders.push(await mkdtemp(join(tmpdir(), "shotlog-uploads-")));
      return folders.at(-1);
    };
    const port = await freePort();
    const proxy = await startProxy(port, Math.max(6, LARGE / 20) * MEGABYTE);
    const part = Math.max(1, Math.round(LARGE / 120)) * 256 * 1024;
    const environment = { SERVICE_INGEST__UPLOAD_PART_BYTES: String(part), ...bucket };
    const start = async () => startService({ environment, url: proxy.url, data: await folder(), port });
    let running = await start();
    await use({
      url: proxy.url,
      storage: S3,
      proxy,
      restart: async () => {
        await running.kill();
        running = await start();
      },
    });
    proxy.close();
    await running.stop();
    for (const each of folders) await rm(each, { recursive: true, force: true });
  }, { scope: "worker", timeout: 90_000 }],
});

const files = (...names) => names.map((name) => ({ name, mimeType: "video/mp4", buffer: Buffer.from(`not a film: ${name}`) }));
const upload = (page, name) => page.getByRole("listitem").filter({ hasText: name }).filter({ has: page.getByRole("progressbar") });
const add = (page) => page.getByRole("button", { name: "Add", exact: true }).click();
const listJobs = async (service) => (await (await fetch(`${service.url}/jobs`)).json()).jobs;

// Holds upload requests until they are released.
async function hold(page) {
  let release;
  const held = new Promise((done) => { release = done; });
  await page.route(/\/uploads\/\w+$/, async (route) => {
    if (route.request().method() === "PATCH") await held;
    await route.continue().catch(() => {});
  });
  return release;
}

test("two dropped files are both added", async ({ page, service }) => {
  await page.goto(`${service.url}/#/search`);
  const data = await page.evaluateHandle(() => {
    const carried = new DataTransfer();
    for (const name of ["first.mp4", "second.mp4"]) carried.items.add(new File(["no film"], name, { type: "video/mp4" }));
    return carried;
  });
  await page.dispatchEvent("h1", "dragover", { dataTransfer: data });
  await page.dispatchEvent("h1", "drop", { dataTransfer: data });
  await expect(page.locator(".drop")).toContainText("2 files");
  await expect(page.getByRole("button", { name: "Remove second.mp4" })).toBeVisible();
  await expectAccessible(page, "two files chosen");
  await add(page);
  await expect.poll(async () => (await listJobs(service)).map(({ source }) => source)).toEqual(expect.arrayContaining(["first.mp4", "second.mp4"]));
});

test("all media files of a folder are added", async ({ page, service }) => {
  const folder = await mkdtemp(join(tmpdir(), "shotlog-folder-"));
  try {
    await mkdir(join(folder, "day one"));
    for (const name of ["a.mp4", "notes.txt", "day one/b.mkv"]) await writeFile(join(folder, name), "no film");
    await page.goto(service.url);
    await page.getByLabel("Choose a folder").setInputFiles(folder);
    await expect(page.locator(".drop")).toContainText("2 files");
    await expect(page.getByRole("button", { name: "Remove b.mkv" })).toBeVisible();
    await page.getByRole("button", { name: "Remove a.mp4" }).click();
    await expect(page.locator(".drop")).toContainText("b.mkv");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("the cost is estimated before anything is uploaded", async ({ page, service }) => {
  const total = { reused: 0, model_calls: 12, input_tokens: 4000, output_tokens: 500, seconds: 240 };
  let planRequest;
  await page.route(/\/videos\/plan$/, (route) => {
    planRequest = route.request().postDataJSON();
    return route.fulfill({ json: { video_id: null, chunk_config: "", chunks: 6, drops: [], analyzers: {}, aggregators: {}, total, history: 3 } });
  });
  await page.goto(service.url);
  await page.getByText("Options", { exact: true }).click();
  await page.getByLabel("Max. AI calls per video").fill("20");
  await page.getByLabel("Choose files").setInputFiles(sample);
  await expect(page.getByText("Estimate for 0:52 of video: about 4 minutes, 12 AI calls, 4,500 tokens (based on 3 earlier videos).")).toBeVisible();
  expect(planRequest.duration).toBeCloseTo(52, 0);
  expect(planRequest.max_model_calls).toBe(20);
  // For a file of unknown duration, the estimate is per minute.
  await page.getByLabel("Choose files").setInputFiles(files("unknown.mp4"));
  await expect(page.getByText(/^Estimate per minute of video/)).toBeVisible();
});

test("uploads are reordered, paused, resumed and cancelled", async ({ page, service }) => {
  const release = await hold(page);
  await page.goto(service.url);
  await page.getByLabel("Choose files").setInputFiles(files("one.mp4", "two.mp4", "three.mp4"));
  await add(page);
  await expect(upload(page, "one.mp4")).toContainText("Uploading");
  await expect(upload(page, "two.mp4")).toContainText("Waiting in queue");
  await expectAccessible(page, "queue");
  await page.getByRole("button", { name: "Move three.mp4 up" }).click();
  const names = () => page.locator("li.upload strong").allTextContents();
  expect(await names()).toEqual(["one.mp4", "three.mp4", "two.mp4"]);
  await page.getByRole("button", { name: "Pause one.mp4" }).click();
  await expect(upload(page, "one.mp4")).toContainText("Paused");
  await expect(upload(page, "three.mp4")).toContainText("Uploading");
  await page.getByRole("button", { name: "Cancel two.mp4" }).click();
  await expect(upload(page, "two.mp4")).toHaveCount(0);
  release();
  await expect.poll(async () => (await listJobs(service)).map(({ source }) => source)).toContain("three.mp4");
  await page.getByRole("button", { name: "Resume one.mp4" }).click();
  await expect.poll(async () => (await listJobs(service)).map(({ source }) => source)).toContain("one.mp4");
  expect((await listJobs(service)).map(({ source }) => source)).not.toContain("two.mp4");
});

test("a failed upload is shown on every page and can be retried", async ({ page, service }) => {
  await page.route(/\/uploads$/, (route) => route.fulfill({ status: 413, json: { detail: "the upload is too large for this test" } }));
  await page.goto(service.url);
  await page.getByLabel("Choose files").setInputFiles(files("huge.mp4"));
  await page.evaluate(() => { document.querySelector("form.card").requestSubmit(); location.hash = "#/ask"; });
  await expect(page.getByText(/huge\.mp4 was not added: the upload is too large/)).toBeVisible();
  await expectAccessible(page, "upload failed on another page");
  await page.getByRole("link", { name: "1 upload needs attention" }).click();
  await expect(upload(page, "huge.mp4")).toContainText("too large for this test");
  await page.unroute(/\/uploads$/);
  await page.getByRole("button", { name: "Try again: huge.mp4" }).click();
  await expect.poll(async () => (await listJobs(service)).map(({ source }) => source)).toContain("huge.mp4");
});

// Writes the sample video padded to a size with bytes that players ignore.
async function large(folder, megabytes) {
  const head = Buffer.alloc(16);
  // Size 1 means that a 64-bit size follows.
  head.writeUInt32BE(1);
  head.write("free", 4, "latin1");
  head.writeBigUInt64BE(BigInt(megabytes * MEGABYTE + head.length), 8);
  const path = join(folder, "large.mp4");
  const file = await open(path, "w");
  await file.write(await readFile(sample));
  await file.write(head);
  for (let part = 0; part < megabytes; part += 1) await file.write(randomBytes(MEGABYTE));
  await file.close();
  return path;
}

async function sha1(path) {
  const hash = createHash("sha1");
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest("hex");
}

test("an upload interrupted five times becomes one video with little sent twice", async ({ page, service }) => {
  test.slow(LARGE > 100);
  const folder = await mkdtemp(join(tmpdir(), "shotlog-large-"));
  try {
    const path = await large(folder, LARGE);
    const { size } = await stat(path);
    const id = (await sha1(path)).slice(0, 16);
    await page.goto(service.url);
    await page.getByLabel("Choose files").setInputFiles(path);
    await page.getByText("Options", { exact: true }).click();
    const analyzers = page.locator(".checks input");
    for (let index = 1; index < await analyzers.count(); index += 1) await analyzers.nth(index).uncheck();
    await analyzers.first().check();
    const before = service.proxy.sent();
    const sent = () => service.proxy.sent() - before;
    await add(page);
    const reload = async () => {
      await page.reload();
      await expect(upload(page, "large.mp4")).toContainText("Choose the same file again");
      await page.getByLabel("Choose large.mp4 again").setInputFiles(path);
    };
    const cutPoints = Array.from({ length: 5 }, () => 0.05 + 0.9 * Math.random()).sort((a, b) => a - b);
    for (const [index, cut] of [service.proxy.cut, reload, service.restart, service.proxy.cut, service.restart].entries()) {
      await expect.poll(sent, { timeout: LARGE > 100 ? 600_000 : 60_000, intervals: [50] }).toBeGreaterThan(cutPoints[index] * size);
      await cut();
    }
    await expect(upload(page, "large.mp4")).toHaveCount(0, { timeout: LARGE > 100 ? 600_000 : 120_000 });
    console.log(`${size} bytes, cut off at ${cutPoints.map((at) => at.toFixed(2)).join(", ")}: ${sent()} sent, ${(sent() / size).toFixed(3)} ×`);
    expect(sent()).toBeLessThan(1.1 * size);
    await expect.poll(async () => (await listJobs(service)).find(({ source }) => source === "large.mp4")?.status, { timeout: 300_000 }).toBe("done");
    const { videos } = await (await fetch(`${service.url}/videos`)).json();
    expect(videos.map(({ video_id }) => video_id)).toEqual([id]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
