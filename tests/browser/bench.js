// Prints how fast the page is: script size, first paint, and frames per second of the timeline of a
// three-hour video while it is zoomed and scrolled. SHOTLOG_BINARY names the service.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "@playwright/test";
import { longVideo } from "./long-video.js";
import { browser as options, root, startService } from "./service.js";

const service = await startService();
const browser = await chromium.launch(options);
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(service.url);
  await page.getByText("Nothing here yet").waitFor();
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const script = gzipSync(await readFile(join(root, "ui/dist/app.js"))).length;
  console.log(`script ${(script / 1024).toFixed(1)} KB compressed (bar 150), first paint ${Math.round(paint)} ms (bar 1000)`);

  const id = await longVideo(page);
  await page.goto(`${service.url}/#/videos/${id}`);
  await page.getByText("2,000 moments").waitFor();
  await page.getByLabel("Lanes").getByText("Novelty").waitFor();
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
    const gaps = times.slice(1).map((time, index) => time - times[index]).sort((a, b) => a - b);
    return { mean: 1000 / (gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length), slow: 1000 / gaps[Math.floor(gaps.length * 0.95)] };
  }, move);
  for (const move of ["zoom", "scroll"]) {
    if (move === "scroll") for (let times = 0; times < 4; times += 1) await page.getByRole("button", { name: "Zoom in" }).click();
    const { mean, slow } = await frames(move);
    console.log(`${move}: ${mean.toFixed(1)} frames per second, ${slow.toFixed(1)} at the 95th percentile (bar 50)`);
  }
} finally {
  await browser.close();
  await service.stop();
}
