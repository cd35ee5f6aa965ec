// Compares the page with another version of it, in turns, with the same service: milliseconds until the first cards of
// the library are painted, until a search shows hits, and until a click on the timeline has sought: as soon as the video
// can be played, while the page still loads, and once it has loaded. The other version is a folder `ui/dist`, named by
// SHOTLOG_OTHER_UI.
import { readFile } from "node:fs/promises";
import { createServer, request as forward } from "node:http";
import { extname, join } from "node:path";
import { addVideo, freePort, root, startService } from "./service.js";

const ROUNDS = 9;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2" };
const SEARCHES = ["a ship at the quay", "the harbour", "somebody speaks", "boats", "the weather", "a lighthouse", "the sea", "fish", "a town"];

/** Serves the files of `folder`, and everything else from the service. */
async function serveWith(folder, service) {
  const port = await freePort();
  const server = createServer(async (incoming, response) => {
    const { pathname } = new URL(incoming.url, "http://localhost");
    const file = await readFile(join(folder, pathname === "/" ? "index.html" : pathname)).catch(() => null);
    if (file) {
      response.writeHead(200, { "Content-Type": TYPES[extname(pathname)] ?? TYPES[".html"], "Cache-Control": "no-store" });
      return response.end(file);
    }
    const headers = { ...incoming.headers, host: new URL(service.url).host };
    if (headers.origin) headers.origin = service.url;
    const outgoing = forward(new URL(incoming.url, service.url), { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    return incoming.pipe(outgoing);
  });
  await new Promise((done) => { server.listen(port, "127.0.0.1", done); });
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** Milliseconds from a click on the timeline, at a share of its width, to the end of the seek. */
async function seekTime(page, timeline, share) {
  const { width } = await timeline.boundingBox();
  const sought = page.evaluate(() => new Promise((done) => { document.querySelector("video").addEventListener("seeked", done, { once: true }); }));
  const start = performance.now();
  await timeline.click({ position: { x: width * share, y: 8 } });
  await sought;
  return performance.now() - start;
}

/** Milliseconds of one visit: first cards, hits, seeks. */
async function visit(browser, url, video, round) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  let start = performance.now();
  await page.goto(url);
  await page.locator("a.tile img").first().waitFor();
  const cards = performance.now() - start;
  await page.goto(`${url}/#/search`);
  const field = page.getByLabel("Search the footage");
  await field.fill(SEARCHES[round % SEARCHES.length]);
  start = performance.now();
  await field.press("Enter");
  await page.locator(".hits > li").first().waitFor();
  const hits = performance.now() - start;
  await page.goto(`${url}/#/videos/${video}`);
  const timeline = page.getByRole("slider", { name: "Time" });
  await timeline.waitFor();
  await page.waitForFunction(() => document.querySelector("video")?.readyState >= 2);
  const early = await seekTime(page, timeline, 0.2 + 0.07 * (round % 9));
  await page.waitForLoadState("networkidle");
  const seek = await seekTime(page, timeline, 0.85 - 0.07 * (round % 9));
  await context.close();
  return [cards, hits, early, seek];
}

/** Prints the medians of both versions. */
export async function comparePages(browser, other) {
  const service = await startService();
  const versions = [];
  try {
    for (const folder of [join(root, "ui/dist"), other]) versions.push({ ...await serveWith(folder, service), times: [] });
    const video = await addVideo(service.url, { analyzers: "default_video,transcript", mode: "interval", interval: "5" });
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const version of round % 2 ? versions : versions.toReversed()) {
        const times = await visit(browser, version.url, video, round + 1);
        // The first round warms the caches of the service.
        if (round >= 0) version.times.push(times);
      }
    }
    for (const [index, name] of ["first cards", "hits of a search", "seek while the page loads", "seek on the loaded page"].entries()) {
      const [ours, theirs] = versions.map(({ times }) => times.map((one) => one[index]).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]);
      console.log(`${name}: ${Math.round(ours)} ms, the other version ${Math.round(theirs)} ms (median of ${ROUNDS} in turns; ratio ${(ours / theirs).toFixed(2)})`);
    }
  } finally {
    for (const version of versions) version.close();
    await service.stop();
  }
}
