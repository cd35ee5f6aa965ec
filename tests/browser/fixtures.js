// Fixtures: a service, and a page that fails its test on script errors, content policy violations, and
// requests to other hosts.
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect } from "@playwright/test";
import { startService } from "./service.js";

export { expect };

export const test = base.extend({
  // One service per worker; a spec file sets its options with test.use.
  settings: [{}, { option: true, scope: "worker" }],
  service: [async ({ settings }, use) => {
    const service = await startService(settings);
    await use(service);
    await service.stop();
  }, { scope: "worker", timeout: 90_000 }],

  page: async ({ page, service }, use) => {
    const problems = [];
    page.on("pageerror", (error) => problems.push(`script error: ${error.message}`));
    page.on("console", (message) => {
      if (/content security policy/i.test(message.text())) problems.push(message.text());
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      const allowed = [service.url, service.storage].includes(url.origin);
      if (url.protocol.startsWith("http") && !allowed) problems.push(`request to ${url}`);
    });
    await use(page);
    expect(problems).toEqual([]);
  },
});

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

// Expects that nothing overflows the window and that axe finds no violations in `part`.
export async function expectAccessible(page, name, part = "html") {
  const { width } = page.viewportSize();
  expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(width);
  const { violations } = await new AxeBuilder({ page }).include(part).withTags(RULES).analyze();
  const messages = violations.map((found) => `${name}: ${found.id}: ${found.nodes.map((node) => node.target).join(", ")}`);
  expect(messages).toEqual([]);
}

// Opens the menu of a search result, by its position, and returns the result.
export async function openHitMenu(page, index = 0) {
  const hit = page.locator(".hits > li").nth(index);
  if (!(await hit.locator("details[open]").count())) await hit.getByText("More", { exact: true }).press("Enter");
  await expect(hit.locator("details[open]")).toBeVisible();
  return hit;
}

// Records every seek of the player, for expectPlayingFrom.
export async function watchSeeks(page) {
  await page.evaluate(() => {
    const video = document.querySelector("video");
    window.seeks = [];
    if (!window.watching) video.addEventListener("seeking", () => window.seeks.push(video.currentTime));
    window.watching = true;
  });
}

// Expects that the player has sought to this time and shows a frame at or after it.
export async function expectPlayingFrom(page, seconds) {
  await expect.poll(() => page.evaluate(() => window.seeks)).toContainEqual(expect.closeTo(seconds, 1));
  await expect.poll(() => page.evaluate((start) => {
    const video = document.querySelector("video");
    return video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && video.currentTime >= start - 0.1;
  }, seconds)).toBe(true);
}
