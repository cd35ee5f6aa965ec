// Every page once in Firefox, with its own video. Playwright supports only its own Firefox build; Debian's
// is driven over WebDriver BiDi.
import { accessSync, constants } from "node:fs";
import { expect, test } from "@playwright/test";
import puppeteer from "puppeteer-core";
import { sample, startService } from "./service.js";

const firefox = process.env.SHOTLOG_FIREFOX ?? "/usr/bin/firefox-esr";
function installed() {
  try {
    accessSync(firefox, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

test("Firefox adds a video, plays it, draws its timeline and finds a moment", async ({}, testInfo) => {
  const missing = `there is no Firefox at ${firefox}: apt-get install firefox-esr, or set SHOTLOG_FIREFOX`;
  if (!installed()) console.log(`skipped: ${missing}`);
  test.skip(!installed(), missing);
  // Without speech and object models, which other specs test, the ingest is fast.
  const service = await startService({ environment: { SERVICE_DETECTOR__KIND: "none", SERVICE_TRANSCRIBER__KIND: "none" } });
  const browser = await puppeteer.launch({
    browser: "firefox", executablePath: firefox, defaultViewport: { width: 1280, height: 900 },
    extraPrefsFirefox: { "media.autoplay.default": 0, "intl.accept_languages": "en-US" },
  });
  const problems = [];
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => problems.push(`script error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    const shown = (selector, expected) => page.waitForFunction(
      (where, text) => [...document.querySelectorAll(where)].some((one) => one.textContent.includes(text)), {}, selector, expected,
    );

    await page.goto(service.url);
    await shown("h1", "Library");
    const file = await page.waitForSelector("input[type=file]:not([webkitdirectory])");
    await file.uploadFile(sample);
    await page.locator("::-p-aria([name='Add'][role='button'])").click();
    await page.locator("a.tile").setTimeout(300_000).click();

    await page.waitForFunction(() => document.querySelector("video")?.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA);
    await page.evaluate(() => document.querySelector("video").play());
    await page.waitForFunction(() => document.querySelector("video")?.currentTime > 0.2);
    // The canvas has more than one colour.
    await page.waitForFunction(() => {
      const canvas = document.querySelector("canvas");
      if (!canvas?.width) return false;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size > 3;
    });
    await page.screenshot({ path: testInfo.outputPath("video.png") });
    await page.keyboard.press("/");
    await page.locator("#find-text").fill("a person in the picture");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".hits .thumb img");
    await page.waitForFunction(() => document.querySelector(".hits .thumb img")?.naturalWidth > 0);
    await page.screenshot({ path: testInfo.outputPath("search.png") });
    for (const [path, heading] of [["ask", "Ask"], ["jobs", "Jobs"], ["alerts", "Alerts"], ["settings", "Settings"]]) {
      await page.goto(`${service.url}/#/${path}`);
      await shown("h1", heading);
    }
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
    await service.stop();
  }
});
