// Links to parts of a video: created and withdrawn in the page, opened by people without a token.
import { createBinOf, deleteBins, send, tick } from "./bins.js";
import { expect, expectAccessible, openHitMenu, openTimeMenu, test } from "./fixtures.js";
import { addVideo, startService } from "./service.js";

const ingest = (url, headers) => addVideo(url, { analyzers: "default_video", mode: "interval", interval: "10" }, { headers });

// Other spec files share the service and expect it to be empty.
test.afterEach(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
  const { bins } = await (await fetch(`${service.url}/bins`)).json();
  for (const { bin_id: each } of bins) await fetch(`${service.url}/bins/${each}`, { method: "DELETE" });
});

const dialog = (page) => page.getByRole("dialog");
const links = (page) => dialog(page).getByRole("list", { name: "Share links" }).getByRole("listitem");
const linkOf = (page, title) => links(page).getByRole("textbox", { name: `Link to ${title}` });

// Opens a link in a browser that knows nothing of the service.
async function openLink(browser, url, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    if (/content security policy/i.test(message.text())) problems.push(message.text());
  });
  const response = await page.goto(url);
  return { context, page, problems, status: response.status() };
}

for (const [width, colorScheme] of [[1280, "light"], [390, "dark"]]) {
  test.describe(`at ${width} px, ${colorScheme}`, () => {
    const options = { viewport: { width, height: 800 }, colorScheme };
    test.use({ ...options, contextOptions: { reducedMotion: "reduce" } });

    test("a range is shared, played without a token and withdrawn", async ({ page, browser, service }) => {
      const id = await ingest(service.url);
      await page.goto(`${service.url}/#/videos/${id}?range=2-4`);
      await (await openTimeMenu(page)).getByRole("button", { name: "Share link" }).click();
      await expect(dialog(page).getByRole("heading", { name: "Share 0:02–0:04" })).toBeVisible();
      await dialog(page).getByRole("textbox", { name: "Title" }).fill("The <b>harbour</b>");
      await dialog(page).getByLabel("Expires in").selectOption("7 days");
      await dialog(page).getByRole("button", { name: "Create link" }).click();
      await expect(links(page)).toHaveCount(1);
      await expect(linkOf(page, "The <b>harbour</b> 0:02–0:04")).toBeFocused();
      await expect(links(page)).toContainText("0:02–0:04");
      await expectAccessible(page, "the dialog of links", "dialog");
      const url = await linkOf(page, "The <b>harbour</b> 0:02–0:04").inputValue();
      expect(url).toMatch(new RegExp(`^${service.url}/shared/[0-9a-f]{52}$`));
      const { shares } = await (await fetch(`${service.url}/shares?video_id=${id}`)).json();
      expect(shares.map((share) => [share.url, share.start, share.end])).toEqual([[url, 2, 4]]);
      expect(Date.parse(shares[0].expires_at) - Date.parse(shares[0].created_at)).toBe(7 * 86_400_000);

      const viewer = await openLink(browser, url, options);
      expect(viewer.status).toBe(200);
      await expect(viewer.page.getByRole("heading", { name: "The <b>harbour</b>" })).toBeVisible();
      await expect(viewer.page).toHaveTitle("The <b>harbour</b>");
      const video = viewer.page.locator("video");
      await video.evaluate((element) => element.play());
      await expect.poll(() => video.evaluate(({ readyState, currentTime }) => readyState >= 2 && currentTime > 0)).toBe(true);
      expect(await video.evaluate(({ duration }) => duration)).toBeCloseTo(2, 0);
      await expectAccessible(viewer.page, "the page of a link");
      expect(await viewer.page.content()).not.toContain(id);
      expect(viewer.problems).toEqual([]);

      await links(page).getByRole("button", { name: /^Withdraw/ }).click();
      await expect(links(page)).toHaveCount(0);
      expect((await viewer.page.reload()).status()).toBe(404);
      await expect(viewer.page.getByText("This link does not exist, has expired or was withdrawn.")).toBeVisible();
      await expectAccessible(viewer.page, "the page of a withdrawn link");
      await viewer.context.close();
    });
  });
}

test("a moment of a search is shared, and the link is copied", async ({ page, context, service }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await ingest(service.url);
  await page.goto(`${service.url}/#/search?q=boat`);
  await (await openHitMenu(page)).getByRole("menuitem", { name: "Share link" }).click();
  await dialog(page).getByRole("button", { name: "Create link" }).click();
  await links(page).getByRole("button", { name: /^Copy/ }).click();
  await expect(links(page).getByText("Copied")).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect((await fetch(copied)).status).toBe(200);
  await dialog(page).getByRole("button", { name: "Close" }).click();
  await expect(dialog(page)).toHaveCount(0);
});

for (const [width, colorScheme] of [[1280, "dark"], [390, "light"]]) {
  test.describe(`at ${width} px, ${colorScheme}`, () => {
    const options = { viewport: { width, height: 800 }, colorScheme };
    test.use({ ...options, contextOptions: { reducedMotion: "reduce" } });

    test("the ticked selects of a bin are shared as one link, and all links are in one list", async ({ page, browser, service }) => {
      const id = await ingest(service.url);
      const bin = await createBinOf(service, id, [0, 5, 10]);
      await page.goto(`${service.url}/#/bins/${bin}`);
      await tick(page, "Choose select 1");
      await tick(page, "Choose select 3");
      await page.getByRole("button", { name: "Share link" }).click();
      await expect(dialog(page).getByRole("heading", { name: "Share 2 selects" })).toBeVisible();
      await expect(dialog(page)).toContainText("The link has the selects as they are now.");
      await expect(dialog(page)).toContainText("This service has no sign-in");
      await expect(dialog(page)).toContainText("No links yet.");
      await dialog(page).getByRole("button", { name: "Create link" }).click();
      await expect(linkOf(page, "Harbour 2 selects, 0:04")).toBeFocused();
      await expectAccessible(page, "the dialog of links to a bin", "dialog");
      await page.screenshot({ path: test.info().outputPath("bin.png") });
      const { shares } = await (await fetch(`${service.url}/shares?bin_id=${bin}`)).json();
      expect(shares.map(({ title, parts }) => [title, parts.map(({ start, end }) => [start, end])])).toEqual([["Harbour", [[0, 2], [10, 12]]]]);
      const viewer = await openLink(browser, shares[0].url, options);
      expect(viewer.status).toBe(200);
      await expect(viewer.page.getByRole("heading", { name: "Harbour" })).toBeVisible();
      await expect(viewer.page.locator("video")).toHaveCount(2);
      await viewer.context.close();
      await send(`${service.url}/videos/${id}/shares`, "POST", { start: 2, end: 4, title: "Pier" });

      await dialog(page).getByRole("link", { name: "All links" }).click();
      await expect(dialog(page)).toHaveCount(0);
      await expect(page).toHaveTitle("Share links · Shotlog");
      const all = page.getByRole("list", { name: "Share links" }).getByRole("listitem");
      await expect(all).toHaveCount(2);
      await expect(all.nth(0)).toContainText("Pier 0:02–0:04");
      await expect(all.nth(0).getByRole("link", { name: "shotlog-sample.mp4" })).toHaveAttribute("href", `#/videos/${id}?t=2&until=4`);
      await expect(all.nth(1).getByRole("link", { name: "Harbour" })).toHaveAttribute("href", `#/bins/${bin}`);
      await expect(all.nth(1)).toContainText("expires");
      await expectAccessible(page, "the list of all links");
      await page.screenshot({ path: test.info().outputPath("all.png") });
      await all.nth(1).getByRole("button", { name: /^Withdraw/ }).click();
      await expect(all).toHaveCount(1);
      expect((await fetch(shares[0].url)).status).toBe(404);
      await deleteBins(service);
    });
  });
}

test("a token that only reads shares nothing", async ({ browser }) => {
  const tokens = '["all-of-it", { token = "reads", read_only = true }]';
  const service = await startService({ environment: { SERVICE_AUTH__TOKENS: tokens } });
  try {
    const headers = { Authorization: "Bearer all-of-it", "Content-Type": "application/json" };
    const id = await ingest(service.url, { Authorization: "Bearer all-of-it" });
    const response = await fetch(`${service.url}/videos/${id}/shares`, { method: "POST", headers, body: '{"end": 1}' });
    const viewer = await openLink(browser, (await response.json()).url, {});
    expect(viewer.status).toBe(200);
    await viewer.context.close();
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${service.url}/#/videos/${id}?range=2-4`);
    await page.getByLabel("Access token").fill("reads");
    await page.getByRole("button", { name: "Sign in" }).click();
    const menu = await openTimeMenu(page);
    await expect(menu.getByRole("button", { name: "Copy link to range" })).toBeVisible();
    await expect(menu.getByRole("button", { name: "Share link" })).toHaveCount(0);
    // Links of others are listed.
    await page.goto(`${service.url}/#/shares`);
    await expect(page.getByRole("list", { name: "Share links" }).getByRole("listitem")).toHaveCount(1);
    await expect(page.getByRole("button", { name: /^Withdraw/ })).toHaveCount(0);
    await page.context().close();
  } finally {
    await service.stop();
  }
});
