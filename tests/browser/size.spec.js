// The size of the page's scripts, which decides how soon it can be used on a slow connection.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "./fixtures.js";
import { root } from "./service.js";

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
  // All scripts that the service has: those of the other pages, of both languages, and those that load on demand.
  const built = join(root, "ui/dist");
  const names = (await readdir(built)).filter((name) => name.endsWith(".js"));
  for (const name of names) {
    const response = await fetch(`${service.url}/${name}`);
    expect(response.status, name).toBe(200);
    scripts.set(`/${name}`, gzipSync(Buffer.from(await response.arrayBuffer())).length);
  }
  expect(scripts.has("/Settings.js") && scripts.has("/CommandField.js")).toBe(true);
  expect([...scripts.values()].reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(ALL);
});
