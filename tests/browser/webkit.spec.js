// Every page once in WebKit, with its own video. Playwright supports only its own WebKit build; Debian's is
// driven over WebDriver, on a virtual display.
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { expect, test } from "@playwright/test";
import { Builder, By, Key, until } from "selenium-webdriver";
import { sample, startService } from "./service.js";

const driver = process.env.SHOTLOG_WEBKIT_DRIVER ?? "/usr/bin/WebKitWebDriver";
const browserAt = process.env.SHOTLOG_WEBKIT ?? "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";
const screen = "/usr/bin/xvfb-run";

function missing() {
  return [driver, browserAt, screen].find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

async function openBrowser() {
  const port = await freePort();
  const driving = spawn(screen, ["-a", driver, `--port=${port}`], { detached: true, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(() => fetch(`${url}/status`).then(({ ok }) => ok, () => false), { timeout: 30_000 }).toBe(true);
  const capabilities = { browserName: "MiniBrowser", "webkitgtk:browserOptions": { binary: browserAt, args: ["--automation"] } };
  const browser = await new Builder().usingServer(url).withCapabilities(capabilities).build();
  const close = async () => {
    await browser.quit().catch(() => {});
    process.kill(-driving.pid);
  };
  return { browser, close };
}

test("WebKit adds a video, plays it, draws its timeline and finds a moment", async ({}, testInfo) => {
  const without = missing();
  const why = `there is no ${without}: apt-get install webkit2gtk-driver xvfb, or set SHOTLOG_WEBKIT_DRIVER and SHOTLOG_WEBKIT`;
  if (without) console.log(`skipped: ${why}`);
  test.skip(Boolean(without), why);
  // Without speech and object models, which other specs test, the ingest is fast.
  const service = await startService({ environment: { SERVICE_DETECTOR__KIND: "none", SERVICE_TRANSCRIBER__KIND: "none" } });
  const { browser, close } = await openBrowser();
  try {
    const found = (selector, timeout = 60_000) => browser.wait(until.elementLocated(By.css(selector)), timeout);
    const holds = (script) => browser.wait(() => browser.executeScript(script), 60_000, script);
    const shown = (heading) => browser.wait(async () => (await (await found("h1")).getText()) === heading, 60_000, heading);
    const picture = async (name) => writeFile(testInfo.outputPath(name), await browser.takeScreenshot(), "base64");

    await browser.get(service.url);
    await shown("Library");
    await (await found("input[type=file]:not([webkitdirectory])")).sendKeys(sample);
    await browser.findElement(By.xpath("//button[normalize-space()='Add']")).click();
    await (await found("a.tile", 300_000)).click();

    await holds("return document.querySelector('video')?.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA");
    await browser.executeScript("const video = document.querySelector('video'); video.muted = true; video.play()");
    await holds("return document.querySelector('video').currentTime > 0.2");
    // The canvas has more than one colour.
    await holds(`
      const canvas = document.querySelector(".timeline canvas");
      if (!canvas?.width) return false;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size > 3`);
    await picture("video.png");
    // A browser with a locale that charts do not support shows their values as a table.
    for (const tab of ["Data", "Statistics"]) await browser.findElement(By.xpath(`//*[@role='tab'][normalize-space()='${tab}']`)).click();
    await found("figure .plot canvas, figure details[open] td");

    await browser.get(`${service.url}/#/search`);
    await (await found("#find-text")).sendKeys("a person in the picture", Key.ENTER);
    await found(".hits .thumb img");
    await holds("return document.querySelector('.hits .thumb img').naturalWidth > 0");
    await picture("search.png");
    for (const [path, heading] of [["ask", "Ask"], ["jobs", "Jobs"], ["alerts", "Alerts"], ["compare", "Compare moments"], ["settings", "Settings"]]) {
      await browser.get(`${service.url}/#/${path}`);
      await shown(heading);
    }
  } finally {
    await close();
    await service.stop();
  }
});
