// A page that fails its test on script errors, on anything the content policy blocks, and on any
// request that leaves the service.
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect } from "@playwright/test";
import { startService } from "./service.js";

export { expect };

export const test = base.extend({
  // A service of the test file's own, whose settings the file chooses with test.use.
  settings: [{}, { option: true, scope: "worker" }],
  service: [async ({ settings }, use) => {
    const service = await startService(settings);
    await use(service);
    await service.stop();
  }, { scope: "worker", timeout: 90_000 }],

  page: async ({ page, service }, use) => {
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(`script error: ${error.message}`));
    page.on("console", (message) => {
      if (/content security policy/i.test(message.text())) complaints.push(message.text());
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      const known = [service.url, service.storage].includes(url.origin);
      if (url.protocol.startsWith("http") && !known) complaints.push(`request to ${url}`);
    });
    await use(page);
    expect(complaints).toEqual([]);
  },
});

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

// Nothing is wider than the window, and axe finds nothing wrong with the page or a part of it.
export async function expectAccessible(page, name, part = "html") {
  const { width } = page.viewportSize();
  expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(width);
  const { violations } = await new AxeBuilder({ page }).include(part).withTags(RULES).analyze();
  const told = violations.map((found) => `${name}: ${found.id}: ${found.nodes.map((node) => node.target).join(", ")}`);
  expect(told).toEqual([]);
}

// Notes every place the player is sent to, for seeksTo.
export async function watchSeeks(page) {
  await page.evaluate(() => {
    const video = document.querySelector("video");
    window.seeks = [];
    if (!window.watching) video.addEventListener("seeking", () => window.seeks.push(video.currentTime));
    window.watching = true;
  });
}

// The player was sent to this second and got there: it is at or after it, with a picture.
export async function expectPlayingFrom(page, seconds) {
  await expect.poll(() => page.evaluate(() => window.seeks)).toContainEqual(expect.closeTo(seconds, 1));
  await expect.poll(() => page.evaluate((start) => {
    const video = document.querySelector("video");
    return video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && video.currentTime >= start - 0.1;
  }, seconds)).toBe(true);
}
