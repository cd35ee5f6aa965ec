// Measures the gaps between the selects of a string-out: 40 selects from 8 videos of different sizes and frame rates,
// played once in Chromium.
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addVideo, startService } from "./service.js";

const SELECTS = 40;
const SECONDS = 12;
const BAR = 150; // milliseconds
const VIDEOS = [["1280x720", "25"], ["1920x1080", "30000/1001"], ["640x360", "24000/1001"], ["854x480", "50"], ["1280x720", "60000/1001"], ["720x576", "25"], ["1080x1920", "30"], ["1920x1080", "24"]];

const json = async (url, init) => {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
};
const post = (url, body) => json(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

async function addClip(service, folder, index) {
  const [size, rate] = VIDEOS[index];
  const file = join(folder, `clip-${index}.mp4`);
  const picture = ["-f", "lavfi", "-i", `testsrc2=size=${size}:rate=${rate}:duration=${SECONDS}`];
  const sound = ["-f", "lavfi", "-i", `sine=frequency=${220 + 40 * index}:duration=${SECONDS}`];
  execFileSync("ffmpeg", ["-v", "error", "-y", ...picture, ...sound, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", file]);
  return addVideo(service.url, { analyzers: "default_video", mode: "interval", interval: "10" }, { bytes: await readFile(file), name: `clip-${index}.mp4` });
}

/**
 * Plays the string-out of the open bin to its end. Returns the frames that were shown while they played: when, in
 * milliseconds, and of which file.
 */
async function play(page) {
  await page.evaluate(() => {
    window.frames = [];
    const follow = (video) => {
      const each = (now, { mediaTime }) => {
        const active = video.classList.contains("active");
        if (active && !video.paused) window.frames.push({ now, mediaTime, source: video.currentSrc });
        video.requestVideoFrameCallback(each);
      };
      video.requestVideoFrameCallback(each);
    };
    new MutationObserver(() => {
      for (const video of document.querySelectorAll("section video:not([data-followed])")) {
        video.dataset.followed = "";
        follow(video);
      }
    }).observe(document, { childList: true, subtree: true });
  });
  await page.getByRole("button", { name: "Play string-out" }).click();
  await page.getByText("End of the string-out").waitFor({ timeout: 180_000 });
  return page.evaluate(() => window.frames);
}

/**
 * For each swap, the milliseconds from the end of the last frame of a select to the first frame that the next one plays.
 * A select follows one of another video, so that each swap shows as another source.
 */
function gapsBetween(frames) {
  const swaps = frames.flatMap((frame, index) => (index && frame.source !== frames[index - 1].source ? [index] : []));
  const duration = (index) => 1000 * Math.abs(frames[index].mediaTime - frames[index - 1].mediaTime);
  return swaps.map((index) => frames[index].now - frames[index - 1].now - (index > 1 ? Math.min(duration(index - 1), 42) : 0));
}

/** Prints the gaps. */
export async function stringOutGaps(browser) {
  const folder = await mkdtemp(join(tmpdir(), "shotlog-gaps-"));
  const service = await startService();
  try {
    const videos = [];
    for (let index = 0; index < VIDEOS.length; index += 1) videos.push(await addClip(service, folder, index));
    const { bin_id: bin } = await post(`${service.url}/bins`, { name: "String-out" });
    const selects = Array.from({ length: SELECTS }, (_, n) => {
      const start = (n * 2.37) % (SECONDS - 2);
      return { video_id: videos[(n * 3) % videos.length], start, end: start + 0.8 + (n % 4) * 0.2 };
    });
    await post(`${service.url}/bins/${bin}/selects`, { selects });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${service.url}/#/bins/${bin}`);
    await page.getByRole("button", { name: "Play string-out" }).waitFor();
    const gaps = gapsBetween(await play(page)).sort((a, b) => a - b);
    const [median, longest] = [gaps[Math.floor(gaps.length / 2)], gaps.at(-1)];
    console.log(`string-out of ${SELECTS} selects from ${VIDEOS.length} videos: ${gaps.length} swaps, gap ${Math.round(median)} ms in the median, ${Math.round(longest)} ms at most (bar ${BAR}): ${longest < BAR ? "within" : "OVER"}`);
    await page.close();
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
