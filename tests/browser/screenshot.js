// Takes the README's screenshot, docs/screenshot.jpg: the sample clip with its timeline.
//   SHOTLOG_BINARY=target/release/shotlog npm --prefix tests/browser run screenshot
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { browser as options, root, sample, startService } from "./service.js";

const service = await startService({ environment: { SERVICE_OCR__KIND: "auto" } });
const browser = await chromium.launch(options);
try {
  const schema = await (await fetch(`${service.url}/schema`)).json();
  const analyzers = schema.analyzers.filter((id) => id !== "transcript" || !schema.analyzers.includes("diarization"));
  const form = new FormData();
  form.append("analyzers", analyzers.join(","));
  form.append("min_duration", "3");
  form.append("file", new Blob([await readFile(sample)]), "a-day-in-port-ellery.mp4");
  const { job_id: jobId } = await (await fetch(`${service.url}/videos`, { method: "POST", body: form })).json();
  let job;
  do {
    await new Promise((done) => { setTimeout(done, 500); });
    job = await (await fetch(`${service.url}/jobs/${jobId}`)).json();
  } while (job.status === "queued" || job.status === "running");
  if (job.status === "failed") throw new Error(job.error);

  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, deviceScaleFactor: 1.25 });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto(`${service.url}/#/videos/${job.result.video_id}?t=9&tab=chapters`);
  await page.getByRole("tabpanel").waitFor();
  await page.waitForFunction(() => document.querySelector("video")?.currentTime > 9);
  await page.evaluate(() => document.querySelector("video").pause());
  await mkdir(join(root, "docs"), { recursive: true });
  await page.screenshot({ path: process.argv[2] ?? join(root, "docs/screenshot.jpg"), quality: 82, type: "jpeg", fullPage: false });
} finally {
  await browser.close();
  await service.stop();
}
