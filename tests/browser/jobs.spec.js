// Following, cancelling and retrying jobs, with a URL that responds on demand.
import { createServer } from "node:http";
import { expect, expectAccessible, test } from "./fixtures.js";
import { sample } from "./service.js";

test.use({ settings: { environment: { SERVICE_FETCH__ALLOW_PRIVATE: "true" } } });

let held;
let server;
let address;
test.beforeEach(async () => {
  held = [];
  server = createServer((request, answer) => { held.push(answer); });
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  address = `http://127.0.0.1:${server.address().port}/clip.mp4`;
});
test.afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function add(page) {
  await page.getByLabel("From a URL").fill(address);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const job = page.getByRole("listitem").filter({ hasText: address });
  await expect(job).toContainText("Fetching");
  await expect.poll(() => held.length).toBe(1);
  return job;
}

test("a job is followed by events and cancelled", async ({ page, service }) => {
  const events = page.waitForRequest((request) => /\/jobs\/\w+\/events$/.test(new URL(request.url()).pathname));
  await page.goto(service.url);
  const job = await add(page);
  await events;
  await expectAccessible(page, "running");
  await job.getByRole("button", { name: /^Cancel / }).click();
  await expect(job).toContainText("cancelled");
  await expect(job).toContainText("Cancelled: ");
  await expect(job.getByRole("button", { name: "Try again" })).toBeVisible();
  const { jobs } = await (await fetch(`${service.url}/jobs`)).json();
  expect(jobs.find(({ source }) => source === address).status).toBe("failed");
});

test("events alone report the end of a job", async ({ page, service }) => {
  await page.goto(service.url);
  const job = await add(page);
  const before = await (await fetch(`${service.url}/jobs`)).json();
  await page.route((url) => url.pathname === "/jobs", (route) => route.fulfill({ json: before }));
  held[0].writeHead(404).end();
  await expect(job).toContainText("failed");
  await expect(job).toContainText("404");
  await expect(job.locator(".notice-error")).toHaveText(`${address} answered 404 Not Found`);
});

test("a job without events is polled", async ({ page, service }) => {
  await page.route((url) => url.pathname.endsWith("/events"), (route) => route.fulfill({ status: 404, json: { detail: "not here" } }));
  await page.goto(service.url);
  const job = await add(page);
  held[0].writeHead(404).end();
  await expect(job).toContainText("404");
  await expect(job.getByRole("button", { name: "Try again" })).toBeVisible();
});

const FINISHED = {
  job_id: "11112222333344445555666677778888",
  source: "clip.mp4",
  status: "done",
  stage: "complete",
  detail: {},
  error: null,
  created_at: "2026-01-31T12:00:00Z",
  updated_at: "2026-01-31T12:01:00Z",
  result: {
    video_id: "0123456789abcdef", video_url: "", poster_url: null, storage_path: "", filename: "clip.mp4", duration: 30,
    size_bytes: 1, chunk_config: "interval=10", chunks: 3, analyzers: ["default_video"],
    dropped: ["ocr"], indexed: { default_video: 3, transcript: 0, people: 0 },
    aggregated: { ran: ["summary"], reused: [], aggregates: ["summary"], skipped: ["object_entities"], failed: { events: "TimeoutError: the model did not answer" } },
    usage: { model: "large-1", calls: 7, input_tokens: 1200, output_tokens: 340 },
    profile: { scan: { calls: 1, seconds: 4.25 }, embed: { calls: 3, seconds: 0.5 } },
  },
};

test("a finished job shows failed, skipped and empty results, and its usage", async ({ page, service }) => {
  await page.route(`**/videos/${FINISHED.result.video_id}`, (route) => route.fulfill({ json: FINISHED.result }));
  await page.route((url) => url.pathname === "/jobs", (route) => route.fulfill({ json: { jobs: [FINISHED], total: 1 } }));
  await page.goto(`${service.url}/#/jobs`);
  const job = page.getByRole("listitem").filter({ hasText: "clip.mp4" });
  await expect(job).toContainText("Events failed: The model did not answer");
  // Without a picture, there are no people to look for.
  await expect(job).toContainText("Nothing found for: Speech.");
  await expect(job).toContainText(/Skipped: Recognised objects \(requires .*Objects/);
  await expect(job).toContainText("Removed because the video was split differently: On-screen text");
  await job.getByText("Usage and timing").click();
  await expect(job).toContainText("7 calls to large-1");
  await expect(job.getByRole("row", { name: /Decoding the file 1 4.3 s/ })).toBeVisible();
  await expectAccessible(page, "done in part");
  let form;
  await page.route(/\/videos\/0123456789abcdef\/aggregates/, (route) => {
    form = route.request().postData();
    return route.fulfill({ status: 202, json: { job_id: "2".repeat(32), status: "queued", video_id: FINISHED.result.video_id } });
  });
  await job.getByRole("button", { name: "Run again" }).click();
  await expect.poll(() => form).toBe("aggregators=events");
});

test("a job of a deleted video has no link", async ({ page, service }) => {
  await page.route((url) => url.pathname === "/jobs", (route) => route.fulfill({ json: { jobs: [FINISHED], total: 1 } }));
  await page.goto(`${service.url}/#/jobs`);
  const job = page.getByRole("listitem").filter({ hasText: "clip.mp4" });
  await expect(job).toContainText("video deleted");
  await expect(job.getByRole("link")).toHaveCount(0);
  await expect(job.getByRole("button", { name: "Run again" })).toHaveCount(0);
});

test("a file that is not a video cannot be retried", async ({ page, service }) => {
  const error = "ValueError: the file is a picture (JPEG), not a video";
  const job = { ...FINISHED, source: "photo.jpg", status: "failed", stage: "chunking", result: null, error };
  await page.route((url) => url.pathname === "/jobs", (route) => route.fulfill({ json: { jobs: [job], total: 1 } }));
  await page.addInitScript((id) => {
    localStorage.setItem("shotlog.started", JSON.stringify({ [id]: { source: { upload_id: "1" }, options: {} } }));
  }, FINISHED.job_id);
  await page.goto(`${service.url}/#/jobs`);
  const card = page.getByRole("listitem").filter({ hasText: "photo.jpg" });
  await expect(card).toContainText("The file is a picture (JPEG), not a video");
  await expect(card).not.toContainText("ValueError");
  await expect(card).toContainText("Trying again will not help");
  await expect(card.getByRole("button", { name: "Try again" })).toHaveCount(0);
});

test("cancelled and retried jobs keep their history across a reload", async ({ page, service }) => {
  await page.goto(service.url);
  const job = await add(page);
  await job.getByRole("button", { name: /^Cancel / }).click();
  await job.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => held.length).toBe(2);
  await page.goto(`${service.url}/#/jobs`);
  await page.reload();
  const tries = page.getByRole("listitem").filter({ hasText: address });
  await expect(tries.filter({ hasText: "Earlier attempt" })).toContainText("Cancelled: ");
  await expect(tries.filter({ hasText: "Tried again" })).toContainText("Stopped at Fetching");
  held[1].writeHead(404).end();
  await expect(tries.filter({ hasText: "the new job is failed" })).toHaveCount(1);
});

test("a cancelled job is retried without another upload", async ({ page, service }) => {
  const sent = [];
  page.on("request", (request) => { if (/\/uploads$/.test(new URL(request.url()).pathname)) sent.push(request.method()); });
  await page.goto(service.url);
  await page.getByLabel("Choose files").setInputFiles(sample);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const job = page.getByRole("listitem").filter({ hasText: "shotlog-sample.mp4" }).filter({ has: page.locator(".badge") });
  await expect(job).toContainText(/Analysing|Splitting into moments/);
  await job.getByRole("button", { name: /^Cancel / }).click();
  await expect(job).toContainText("cancelled");
  await page.reload();
  await job.getByRole("button", { name: "Try again" }).click();
  await expect.poll(async () => (await (await fetch(`${service.url}/jobs`)).json()).jobs.filter(({ source }) => source === "shotlog-sample.mp4").map(({ status }) => status), { timeout: 240_000 }).toEqual(["done", "failed"]);
  expect(sent).toEqual(["POST"]);
});
