// The size of the page's scripts, which decides how soon it can be used on a slow connection.
import { gzipSync } from "node:zlib";
import { expect, test } from "./fixtures.js";

/** Limits in bytes, compressed: the scripts that the first view needs, and those of all pages. */
const FIRST = 80_000;
const ALL = 220_000;

test("the scripts stay small", async ({ page, service }) => {
  const scripts = new Map();
  page.on("response", async (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.endsWith(".js")) scripts.set(pathname, gzipSync(await response.body()).length);
  });
  await page.goto(service.url);
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  await expect.poll(() => scripts.has("/app.js") && scripts.has("/theme.js")).toBe(true);
  expect(scripts.get("/app.js") + scripts.get("/theme.js")).toBeLessThanOrEqual(FIRST);
  // The other pages load in the background, and the command field when it is opened.
  await expect.poll(() => scripts.has("/Settings.js")).toBe(true);
  await page.keyboard.press("Control+k");
  await expect.poll(() => scripts.has("/CommandField.js")).toBe(true);
  await page.waitForLoadState("networkidle");
  expect([...scripts.values()].reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(ALL);
});
