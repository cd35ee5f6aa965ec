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

// The button of the menu of a search result, or of a moment, in `part` of the page.
export const menuButton = (part) => part.getByRole("button", { name: /^(More actions|Weitere Aktionen) / });

// Opens the menu of a search result, by its position, and returns the menu.
export async function openHitMenu(page, index = 0) {
  const hit = page.locator(".hits > li").nth(index);
  const menu = hit.getByRole("menu");
  if (!(await menu.isVisible())) await menuButton(hit).press("Enter");
  await expect(menu.getByRole("menuitem").first()).toBeFocused();
  return menu;
}

// Opens a tab of a video's results, which may be in a group.
export async function openTab(page, name) {
  const tab = page.getByRole("tab", { name, exact: true });
  const groups = page.getByRole("tablist", { name: "Results" }).getByRole("tab");
  await expect(async () => {
    for (const group of await groups.all()) {
      if (await tab.count()) break;
      await group.click();
    }
    expect(await tab.count()).toBe(1);
  }).toPass();
  await tab.click();
  return page.getByRole("tabpanel");
}

// Opens each tab of a video's results in turn, and calls `check` with its name.
export async function eachTab(page, check) {
  const lists = page.getByRole("tablist");
  const groups = lists.first().getByRole("tab");
  await expect(groups.nth(1)).toBeVisible();
  // Cuts and aggregates, which have tabs, load after the video.
  await page.waitForLoadState("networkidle");
  for (const group of await groups.all()) {
    await group.click();
    const inner = (await lists.count()) > 1 ? await lists.nth(1).getByRole("tab").all() : [group];
    for (const tab of inner) {
      await tab.click();
      await check(await tab.textContent());
    }
  }
}

// Opens the menu of the current time and range.
export async function openTimeMenu(page) {
  const menu = page.locator("details").filter({ has: page.getByLabel("Time format") });
  if ((await menu.getAttribute("open")) === null) await menu.locator("summary").first().click();
  return menu;
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
