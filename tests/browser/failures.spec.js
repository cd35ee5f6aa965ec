// The pages when the service fails, is slow, or has far more data than the sample clip.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "./fixtures.js";
import { longVideo } from "./long-video.js";
import { root } from "./service.js";

const broken = { status: 500, contentType: "application/json", body: JSON.stringify({ detail: "internal error; the server log has the details" }) };
const path = (one) => (url) => url.pathname === one || url.pathname.startsWith(`${one}/`);

for (const [name, hash, route] of [
  ["library", "#/", "/videos"],
  ["video", "#/videos/0123456789abcdef", "/videos/0123456789abcdef"],
  ["jobs", "#/jobs", "/jobs"],
]) {
  test(`an API error on the ${name} page is shown with a retry`, async ({ page, service }) => {
    const calls = path(route);
    await page.route(calls, (one) => one.fulfill(broken));
    await page.goto(`${service.url}/${hash}`);
    const alert = page.getByRole("alert");
    await expect(alert).toContainText("internal error");
    await page.unroute(calls);
    const again = page.waitForResponse((answer) => calls(new URL(answer.url())));
    await alert.getByRole("button", { name: "Try again" }).click();
    await again;
    await expect(page.getByText("internal error")).toBeHidden();
  });
}

for (const [name, label, route] of [["search", "Search the footage", "/query"], ["ask", "Ask about the footage", "/ask"]]) {
  test(`an API error on the ${name} page is shown, and the retry works`, async ({ page, service }) => {
    const calls = path(route);
    await page.route(calls, (one) => one.fulfill(broken));
    await page.goto(`${service.url}/#/${name}`);
    await page.getByLabel(label).fill("boat");
    await page.locator("main form button.primary").click();
    const alert = page.getByRole("alert");
    await expect(alert).toContainText("internal error");
    await page.unroute(calls);
    await alert.getByRole("button", { name: "Try again" }).click();
    await expect(alert).toBeHidden();
  });
}

test("an unknown video shows an error", async ({ page, service }) => {
  await page.goto(`${service.url}/#/videos/0000000000000000`);
  await expect(page.getByRole("alert")).toContainText("0000000000000000");
});

test("a slow service shows placeholders", async ({ page, service }) => {
  let release;
  const held = new Promise((done) => { release = done; });
  await page.route(path("/videos"), async (one) => { await held; await one.continue(); });
  await page.goto(service.url);
  await expect(page.locator(".skeleton").first()).toBeVisible();
  release();
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  await expect(page.locator(".skeleton")).toHaveCount(0);
});

test("a slow network shows placeholders, then the page", async ({ page, service }) => {
  const wire = await page.context().newCDPSession(page);
  await wire.send("Network.enable");
  await wire.send("Network.emulateNetworkConditions", { offline: false, latency: 400, downloadThroughput: 60_000, uploadThroughput: 30_000 });
  // The list of the library arrives with the scripts; other pages wait for their data.
  await page.goto(`${service.url}/#/persons`, { waitUntil: "commit" });
  // The placeholders are there for less than the second after which an expectation is checked again.
  await page.locator(".skeleton").first().waitFor();
  await expect(page.getByText("No names yet")).toBeVisible();
});

test("an unreachable service shows an error", async ({ page, service }) => {
  await page.goto(service.url);
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  await page.route(path("/query"), (one) => one.abort());
  await page.goto(`${service.url}/#/search`);
  await page.getByLabel("Search the footage").fill("boat");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("cannot be reached");
});

test("a video of three hours and 2,000 chunks is listed, zoomed and panned", async ({ page, service }) => {
  const id = await longVideo(page);
  await page.goto(`${service.url}/#/videos/${id}`);
  await expect(page.getByText("2,000 moments")).toBeVisible();
  await expect(page.getByLabel("Lanes").getByText("Unusual")).toBeVisible();
  // The list contains all moments and renders the visible ones.
  await page.getByRole("tabpanel").evaluate((panel) => panel.scrollTo(0, panel.scrollHeight));
  await expect(page.locator("#moments .moment").last()).toContainText("2:59:54");
  expect(await page.locator("#moments .moment").count()).toBeLessThan(100);
  for (let times = 0; times < 6; times += 1) await page.getByRole("button", { name: "Zoom in" }).click();
  const pan = page.getByLabel("Visible part of the video");
  await pan.fill("5000");
  await expect(page.locator(".timeline-hover")).toContainText("1:23:20");
});

test("scripts stay within 80 KB at first and 220 KB in all, compressed", async ({ page, service }) => {
  const scripts = new Set();
  page.on("request", (request) => request.url().endsWith(".js") && scripts.add(new URL(request.url()).pathname.slice(1)));
  await page.goto(service.url, { waitUntil: "networkidle" });
  const read = (name) => readFile(join(root, "ui/dist", name));
  const sizes = await Promise.all([...scripts].map(async (name) => gzipSync(await read(name)).length));
  expect([...scripts]).toEqual(expect.arrayContaining(["app.js", "finding.js", "Video.js"]));
  expect(sizes[[...scripts].indexOf("app.js")]).toBeLessThanOrEqual(80 * 1024);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(220 * 1024);
});

test("a page that fails to load shows an error, and others work", async ({ page, service }) => {
  await page.route("**/finding.js", (one) => one.abort());
  const lastInBackground = page.waitForRequest("**/Settings.js");
  await page.goto(service.url);
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("This page could not be loaded.");
  await page.getByRole("link", { name: "Bins", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Bins", exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  const retry = page.getByRole("button", { name: "Try again" });
  await expect(retry).toBeVisible();
  await lastInBackground;
  await page.unrouteAll();
  await retry.click();
  await expect(page.getByRole("heading", { name: "Ask", exact: true })).toBeVisible();
});

test("a failed search clears the previous results", async ({ page, service }) => {
  const hit = { video_id: "00c0ffee00c0ffee", chunk_id: 1, start: 1, end: 2, timecode: "", score: 0.5, description: "A boat." };
  let failing = false;
  await page.route(path("/query"), (one) => one.fulfill(failing ? broken : { json: { answer: null, results: [hit] } }));
  await page.goto(`${service.url}/#/search?q=boat`);
  await expect(page.locator("#hits li")).toHaveCount(1);
  failing = true;
  await page.getByLabel("Search the footage").fill("ferry");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("internal error");
  await expect(page.locator("#hits li")).toHaveCount(0);
});

test("loading the schema is retried after a failure", async ({ page, service }) => {
  await page.route(path("/schema"), (one) => one.fulfill(broken));
  await page.goto(`${service.url}/#/search?q=boat`);
  const alert = page.getByRole("alert").filter({ hasText: "The list of available features could not be loaded" });
  await expect(alert).toContainText("internal error");
  await page.unroute(path("/schema"));
  await page.unrouteAll();
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect(alert).toBeHidden();
  await page.getByText("Filters", { exact: true }).click();
  await expect(page.getByLabel("Search in", { exact: true }).getByRole("option", { name: "Scenes" })).toBeAttached();
  await expect(page.getByLabel("Objects")).toBeVisible();
});

test("transcript search keeps the surrounding text and steps through matches", async ({ page, service }) => {
  const id = await longVideo(page);
  await page.goto(`${service.url}/#/videos/${id}?tab=transcript`);
  const find = page.getByLabel("Find in transcript");
  await find.fill("sentence 100");
  const status = page.getByRole("search").getByRole("status");
  await expect(status).toHaveText("11 matches · 1 of 11");
  const marked = page.locator("#transcript .match");
  await expect(marked).toContainText("Sentence 100.");
  await expect(page.locator("#transcript")).toContainText("Sentence 99.");
  await find.press("Enter");
  await expect(status).toHaveText("11 matches · 2 of 11");
  await expect(marked).toContainText("Sentence 1000.");
  await page.getByRole("button", { name: "Previous match" }).click();
  await page.getByRole("button", { name: "Previous match" }).click();
  await expect(marked).toContainText("Sentence 1009.");
  await find.fill("nothing of the kind");
  await expect(page.getByText("No matches for “nothing of the kind”.")).toBeVisible();
});
