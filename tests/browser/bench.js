// Measures the page: script size, first paint, and frames per second of a three-hour timeline while zooming
// and scrolling; the gaps between the selects of a string-out; for a large library, the median time to first
// cards over five loads, frames per second while scrolling, and memory after some minutes of use.
// SHOTLOG_BINARY is the service, SHOTLOG_LIBRARY the data folder of a large library (skipped if unset),
// SHOTLOG_MINUTES the minutes of use, SHOTLOG_OTHER_UI the folder `ui/dist` of another version of the page, whose speed
// is compared (skipped if unset).
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "@playwright/test";
import { longVideo } from "./long-video.js";
import { browser as options, root, startService } from "./service.js";
import { comparePages } from "./page-speed.js";
import { stringOutGaps } from "./string-out-gaps.js";

const browser = await chromium.launch(options);

/** Mean and 95th percentile of frames per second, from frame timestamps. */
function rate(times) {
  const gaps = times.slice(1).map((time, index) => time - times[index]).sort((a, b) => a - b);
  const mean = 1000 / (gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length);
  return `${mean.toFixed(1)} frames per second, ${(1000 / gaps[Math.floor(gaps.length * 0.95)]).toFixed(1)} at the 95th percentile (bar 55)`;
}

async function longFilm() {
  const service = await startService();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const scripts = new Set();
    page.on("request", (request) => request.url().endsWith(".js") && scripts.add(new URL(request.url()).pathname.slice(1)));
    await page.goto(service.url, { waitUntil: "networkidle" });
    await page.getByText("Nothing here yet").waitFor();
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    const compressed = async (name) => gzipSync(await readFile(join(root, "ui/dist", name))).length / 1024;
    const sizes = await Promise.all([...scripts].map(compressed));
    const all = sizes.reduce((sum, size) => sum + size, 0).toFixed(1);
    console.log(`scripts ${all} KB compressed (bar 220), ${(await compressed("app.js")).toFixed(1)} of them at first (bar 80); first paint ${Math.round(paint)} ms (bar 1000)`);

    const id = await longVideo(page);
    await page.goto(`${service.url}/#/videos/${id}`);
    await page.getByText("2,000 moments").waitFor();
    await page.getByLabel("Lanes").getByText("Unusual").waitFor();
    const frames = (move) => page.evaluate(async (move) => {
      const canvas = document.querySelector("canvas");
      const box = canvas.getBoundingClientRect();
      const times = [];
      for (let round = 0; round <= 240; round += 1) {
        times.push(await new Promise(requestAnimationFrame));
        const deltaY = move === "zoom" ? (round % 120 < 60 ? -20 : 20) : 0;
        const deltaX = move === "scroll" ? (round % 120 < 60 ? 30 : -30) : 0;
        canvas.dispatchEvent(new WheelEvent("wheel", { deltaX, deltaY, ctrlKey: move === "zoom", clientX: box.left + box.width / 2, clientY: box.top + 40, cancelable: true }));
      }
      return times;
    }, move);
    for (const move of ["zoom", "scroll"]) {
      if (move === "scroll") for (let times = 0; times < 4; times += 1) await page.getByRole("button", { name: "Zoom in" }).click();
      console.log(`three hours, ${move}: ${rate(await frames(move))}`);
    }
    await page.close();
  } finally {
    await service.stop();
  }
}

/**
 * Milliseconds until the first cards are painted, measured in the page, because polling from outside adds
 * latency.
 */
async function firstCards(page, url) {
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector("a.tile")) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => (window.shown = performance.now())));
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(url);
  return page.waitForFunction(() => window.shown).then((time) => time.jsonValue());
}

async function largeLibrary(data) {
  const service = await startService({ data });
  try {
    const { total } = await (await fetch(`${service.url}/videos?limit=1`)).json();
    const loads = [];
    let page;
    for (let load = 0; load < 5; load += 1) {
      await page?.context().close();
      page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
      loads.push(await firstCards(page, service.url));
    }
    const times = loads.map(Math.round).join(", ");
    console.log(`library of ${total}: first cards within ${Math.round(loads.toSorted((a, b) => a - b)[2])} ms in the median of ${times} (bar 500)`);
    const devtools = await page.context().newCDPSession(page);
    const memory = async () => {
      await devtools.send("HeapProfiler.collectGarbage");
      return ((await devtools.send("Runtime.getHeapUsage")).usedSize / 1e6).toFixed(1);
    };
    const scroll = () => page.evaluate(async () => {
      const times = [];
      for (let round = 0; round <= 600; round += 1) {
        times.push(await new Promise(requestAnimationFrame));
        scrollBy(0, round % 300 < 260 ? 60 : -300);
      }
      return times;
    });
    console.log(`library of ${total}, scrolled: ${rate(await scroll())}`);
    const before = await memory();
    const minutes = Number(process.env.SHOTLOG_MINUTES ?? 5);
    const end = Date.now() + minutes * 60_000;
    for (let round = 0; Date.now() < end; round += 1) {
      await scroll();
      if (round % 3 === 2) {
        await page.locator("a.tile").first().click();
        await page.getByRole("tab", { name: "Moments" }).waitFor();
        await page.goBack();
        await page.locator("a.tile").first().waitFor();
      }
    }
    console.log(`library of ${total}: ${before} MB of memory, ${await memory()} MB after ${minutes} minutes (bar 250)`);
  } finally {
    await service.stop();
  }
}

try {
  await longFilm();
  await stringOutGaps(browser);
  if (process.env.SHOTLOG_OTHER_UI) await comparePages(browser, process.env.SHOTLOG_OTHER_UI);
  if (process.env.SHOTLOG_LIBRARY) await largeLibrary(process.env.SHOTLOG_LIBRARY);
} finally {
  await browser.close();
}
