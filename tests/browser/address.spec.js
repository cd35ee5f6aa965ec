// The address holds the state of the page: it can be shared, reloaded and restored from history.
import { createServer, request } from "node:http";
import { test as plain } from "@playwright/test";
import { expect, openTab, test } from "./fixtures.js";
import { longVideo } from "./long-video.js";
import { startService } from "./service.js";

const ID = "00c0ffee00c0ffee";
const TOKEN = "correct-horse-battery-staple";
const found = { answer: null, results: [], diagnostics: { hits_without_filter: {}, videos_without_analyzer: [], videos_without_field: [], unknown_videos: [], best_score: null } };
const queries = (page, sent = []) => page.route((url) => url.pathname === "/query", async (route) => {
  sent.push(route.request().postDataJSON());
  await route.fulfill({ json: found });
});

test("the address holds the whole search across reload, back and forward", async ({ page, service }) => {
  const sent = [];
  await queries(page, sent);
  await page.goto(`${service.url}/#/search`);
  await page.getByLabel("Search the footage").fill("boat");
  await page.getByText("Filters", { exact: true }).click();
  await page.getByLabel("Minimum confidence (0–1)").fill("0.5");
  await page.getByLabel("Starts at or after (m:ss)").fill("0:12");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect.poll(() => sent.length).toBe(1);
  expect(sent[0]).toMatchObject({ text: "boat", min_p_present: 0.5, filters: { after: 12 } });
  await expect(page).toHaveURL(/#\/search\?.*q=boat/);

  await page.reload();
  await expect.poll(() => sent.length).toBe(2);
  expect(sent[1]).toEqual(sent[0]);
  await expect(page.getByLabel("Search the footage")).toHaveValue("boat");
  await expect(page.getByLabel("Minimum confidence (0–1)")).toHaveValue("0.5");
  await expect(page.getByLabel("Starts at or after (m:ss)")).toHaveValue("0:12");

  await page.getByLabel("Search the footage").fill("ferry");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect.poll(() => sent.length).toBe(3);
  await page.goBack();
  await expect(page.getByLabel("Search the footage")).toHaveValue("boat");
  await expect.poll(() => sent.at(-1).text).toBe("boat");
  await page.goForward();
  await expect(page.getByLabel("Search the footage")).toHaveValue("ferry");
  await expect.poll(() => sent.at(-1).text).toBe("ferry");
});

test("a link opens a time, a range and a tab of a video, and the title names the video", async ({ page, service }) => {
  const id = await longVideo(page);
  await page.goto(`${service.url}/#/videos/${id}?t=30&range=10-20.5`);
  const heading = page.getByRole("heading", { level: 1 });
  await expect(heading).toBeVisible();
  await expect(page).toHaveTitle(`${await heading.textContent()} · Shotlog`);
  await openTab(page, "Statistics");
  await expect(page).toHaveURL(/t=30&range=10-20\.5&tab=statistics$/);
  await page.reload();
  await expect(page.getByRole("tab", { name: "Statistics" })).toHaveAttribute("aria-selected", "true");
});

test("page titles name the content", async ({ page, service }) => {
  await queries(page);
  for (const [hash, title] of [["#/", "Library"], ["#/search?q=a+boat", "a boat · Search"], ["#/ask", "Ask"], ["#/jobs", "Jobs"], ["#/nowhere", "Page not found"]]) {
    await page.goto(`${service.url}/${hash}`);
    await expect(page).toHaveTitle(`${title} · Shotlog`);
  }
});

test("navigation moves focus to the heading of the new page", async ({ page, service }) => {
  await page.goto(service.url);
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  for (const name of ["Search", "Ask", "Jobs", "Library"]) {
    await page.getByRole("navigation").getByRole("link", { name, exact: true }).press("Enter");
    await expect(page.getByRole("heading", { name, level: 1 })).toBeFocused();
  }
  // Typing right after navigation goes to the page's text field.
  for (const [name, label] of [["Search", "Search the footage"], ["Ask", "Ask about the footage"]]) {
    await page.getByRole("navigation").getByRole("link", { name, exact: true }).press("Enter");
    await expect(page.getByRole("heading", { name, level: 1 })).toBeFocused();
    await page.keyboard.type("a boat");
    await expect(page.getByLabel(label)).toHaveValue("a boat");
  }
  // A heading that renders late gets focus too, such as a video's name.
  const id = await longVideo(page);
  await page.evaluate((to) => { location.hash = to; }, `#/videos/${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
});

test("library filters survive a reload", async ({ page, service }) => {
  const video = { video_id: ID, filename: "harbour.mp4", duration: 9, chunks: 2, analyzers: ["default_video"], poster_url: null };
  await page.route((url) => url.pathname === "/videos", (route) => route.fulfill({ json: { videos: [video], total: 1 } }));
  await page.goto(service.url);
  await page.getByLabel("Find by name").fill("no such name");
  await expect(page).toHaveURL(/name=no\+such\+name/);
  await page.reload();
  await expect(page.getByLabel("Find by name")).toHaveValue("no such name");
  await expect(page.getByText("No matching videos")).toBeVisible();
});

test("the library follows the address while it is open", async ({ page, service }) => {
  const video = (video_id, filename) => ({ video_id, filename, duration: 9, chunks: 2, analyzers: ["default_video"], poster_url: null });
  const videos = [video(ID, "harbour.mp4"), video("feedfacefeedface", "market.mp4")];
  await page.route((url) => url.pathname === "/videos", (route) => route.fulfill({ json: { videos, total: 2 } }));
  await page.goto(service.url);
  const field = page.getByLabel("Find by name");
  await field.fill("market");
  await expect(page.getByRole("link", { name: /^Open / })).toHaveCount(1);
  await page.getByRole("navigation").getByRole("link", { name: "Library" }).click();
  await expect(field).toHaveValue("");
  await expect(page.getByRole("link", { name: /^Open / })).toHaveCount(2);
  await page.evaluate(() => { location.hash = "#/?name=harbour&order=oldest"; });
  await expect(field).toHaveValue("harbour");
  await expect(page.getByLabel("Sort by")).toHaveValue("oldest");
  await page.goBack();
  await expect(field).toHaveValue("");
  await expect(page.getByLabel("Sort by")).toHaveValue("newest");
  await page.evaluate(() => { location.hash = "#/?url=https%3A%2F%2Fexample.com%2Fa.mp4"; });
  await expect(page.getByLabel("From a URL")).toHaveValue("https://example.com/a.mp4");
});

test("going back restores the scroll position, even if the page renders late", async ({ page, service }) => {
  const results = Array.from({ length: 30 }, (_, chunk) => ({ video_id: ID, chunk_id: chunk, start: chunk * 10, end: chunk * 10 + 10, timecode: "", description: "A boat.", objects: [], tags: [], turns: [] }));
  await page.route((url) => url.pathname === "/query", (route) => route.fulfill({ json: { ...found, results } }));
  await page.route((url) => url.pathname === `/videos/${ID}`, (route) => route.fulfill({ json: { video_id: ID, filename: "harbour.mp4" } }));
  await page.goto(`${service.url}/#/search?q=boat&limit=30`);
  await expect(page.locator("#hits li")).toHaveCount(30);
  const top = () => page.evaluate(() => scrollY);
  await page.evaluate(() => scrollTo(0, 1500));
  await expect.poll(top).toBe(1500);
  await page.evaluate(() => { location.hash = "#/jobs"; });
  await expect(page.getByRole("heading", { level: 1, name: "Jobs" })).toBeFocused();
  expect(await top()).toBe(0);
  await page.goBack();
  await expect(page.locator("#hits li")).toHaveCount(30);
  await expect.poll(top).toBe(1500);
  await page.goForward();
  await expect(page.getByRole("heading", { level: 1, name: "Jobs" })).toBeFocused();
  await page.evaluate(() => { location.hash = "#/search"; });
  await expect(page.getByRole("heading", { level: 1, name: "Search" })).toBeFocused();
  expect(await top()).toBe(0);
});

// A proxy serves the page below a path, and a link to a video survives signing in.
plain("a link survives signing in, also below a path prefix", async ({ page }) => {
  let target = "";
  const proxy = createServer((incoming, answer) => {
    const { hostname, port } = new URL(target);
    const outgoing = request({ hostname, port, method: incoming.method, headers: incoming.headers, path: incoming.url.replace(/^\/films/, "") }, (upstream) => {
      answer.writeHead(upstream.statusCode, upstream.headers);
      upstream.pipe(answer);
    });
    // The service stops before the page closes.
    outgoing.on("error", () => answer.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise((done) => { proxy.listen(0, "127.0.0.1", done); });
  const base = `http://127.0.0.1:${proxy.address().port}/films`;
  const service = await startService({ environment: { SERVICE_HTTP__BASE_URL: base, SERVICE_AUTH__TOKENS: JSON.stringify([TOKEN]) } });
  try {
    target = service.url;
    await page.goto(`${base}/#/videos/${ID}?t=12`);
    await page.getByLabel("Access token").fill("not the token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "not accepted" })).toBeVisible();
    await page.getByLabel("Access token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("alert")).toContainText(ID);
    expect(page.url()).toBe(`${base}/#/videos/${ID}?t=12`);
  } finally {
    await service.stop();
    proxy.close();
  }
});
