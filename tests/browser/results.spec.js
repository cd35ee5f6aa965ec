// Search results on a video's timeline and in the comparison, against the real service.
import { stat } from "node:fs/promises";
import { expect, expectAccessible, menuButton, openHitMenu, test, openTimeMenu } from "./fixtures.js";
import { addVideo } from "./service.js";

// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

let id;
test.beforeAll(async ({ service }) => {
  id = await addVideo(service.url, { analyzers: "default_video", mode: "interval", interval: "10" });
});

// -1 until the page shows the video.
const time = (page) => page.evaluate(() => document.querySelector("video")?.currentTime ?? -1);
const lanes = (page) => page.getByRole("list", { name: "Lanes" }).getByRole("listitem");

test("the moments of a video are listed and shown on its timeline by keyboard", async ({ page, service }, testInfo) => {
  await page.goto(`${service.url}/#/videos/${id}`);
  await page.getByRole("link", { name: "Search in video" }).press("Enter");
  await expect(page.getByRole("heading", { name: /^\d+ moments$/ })).toBeVisible();
  await expect(page.getByRole("button", { name: "Remove shotlog-sample.mp4" })).toBeVisible();
  const moments = await page.locator(".hits li").count();
  expect(moments).toBeGreaterThan(2);
  expect(await page.locator(".hits .thumb").evaluateAll((all) => all.map((one) => Number(one.dataset.start)))).toEqual(Array.from({ length: moments }, (_, at) => at * 10));

  await (await openHitMenu(page, 1)).getByRole("menuitem", { name: "Show on timeline" }).press("Enter");
  await expect(page).toHaveURL(/t=10&until=20&hit=0-10&hit=10-20/);
  await expect(lanes(page).first()).toHaveText("Results");
  await expect.poll(() => time(page)).toBeGreaterThanOrEqual(9.9);
  await page.keyboard.press("k");
  const found = page.getByRole("group", { name: "Search results" });
  await expect(found).toContainText(`Result 2 of ${moments} · 0:10–0:20`);
  await page.keyboard.press("n");
  await expect(found).toContainText(`3 of ${moments}`);
  await expect(page).toHaveURL(/t=20&/);
  await page.keyboard.press("p");
  await page.keyboard.press("p");
  await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/t=0&|t=10&/);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `found at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`found-${width}.png`) });
  }
  await page.reload();
  await expect(lanes(page).first()).toHaveText("Results");
  await found.getByRole("button", { name: "Hide" }).press("Enter");
  await expect(lanes(page).first()).not.toHaveText("Results");
  await expect(page).not.toHaveURL(/hit=/);
});

test("similar moments are found from a moment", async ({ page, service }) => {
  await page.goto(`${service.url}/#/videos/${id}?tab=moments`);
  await page.getByRole("button", { name: "Show details of the moment at 0:10" }).click();
  await menuButton(page.getByRole("region", { name: "Moment details" })).click();
  await page.getByRole("menuitem", { name: "By what is said or written" }).click();
  await expect(page.getByRole("search").getByRole("list", { name: "Search criteria" })).toContainText("Similar to shotlog-sample.mp4 at 0:10");
  await expect(page.locator(".hits li").first()).toBeVisible();
  const starts = await page.locator(".hits .thumb").evaluateAll((all) => all.map((one) => Number(one.dataset.start)));
  expect(starts).not.toContain(10);
  await expect(page.locator(".hits .score").first()).toContainText("Similarity");
  await expect(page.getByText("Confidence", { exact: true })).toHaveCount(0);
});

test("moments are selected and compared side by side by keyboard", async ({ page, service }, testInfo) => {
  await page.goto(`${service.url}/#/search?video=${id}`);
  const compare = page.getByRole("button", { name: "Compare", exact: true });
  const item = async (index) => (await openHitMenu(page, index)).getByRole("menuitemcheckbox", { name: "Compare", exact: true });
  const toggle = async (index) => (await item(index)).press("Enter");
  await toggle(0);
  const tray = page.getByRole("complementary", { name: "Compare" });
  await expect(tray).toContainText("1 moment to compare");
  await expect(tray).toContainText("Select another");
  // It covers nothing at the end of a page, also on a phone.
  await page.setViewportSize({ width: 360, height: 780 });
  const gap = () => page.evaluate(() => {
    scrollTo(0, document.documentElement.scrollHeight);
    const end = document.querySelector("main > :last-child").getBoundingClientRect().bottom;
    return document.querySelector(".tray").getBoundingClientRect().top - end;
  });
  await expect.poll(gap).toBeGreaterThanOrEqual(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  // The selection survives a reload and is undone where it was made.
  await page.reload();
  await expect(await item(0)).toHaveAttribute("aria-checked", "true");
  await toggle(0);
  await expect(tray).toBeHidden();
  await toggle(0);
  await toggle(2);
  await expectAccessible(page, "moments set aside");
  await tray.getByRole("link", { name: "Show side by side" }).press("Enter");

  await expect(page).toHaveURL(new RegExp(`#/compare\\?moment=m_${id}_0_10000&moment=m_${id}_20000_30000`));
  await expect(page).toHaveTitle("Compare · Shotlog");
  await expect(tray).toBeHidden();
  const moments = page.locator("main li.card");
  await expect(moments).toHaveCount(2);
  await expect(moments.nth(1)).toContainText("0:20–0:30");
  await expect(moments.nth(1)).toContainText("Scenes");
  const videos = () => page.evaluate(() => [...document.querySelectorAll("video")].map(({ currentTime: t, paused, muted }) => ({ t, paused, muted })));
  await expect(page.locator("video")).toHaveCount(2);
  await page.getByRole("button", { name: "Play all" }).press("Enter");
  await expect.poll(async () => (await videos()).map(({ t, paused }) => !paused && t % 20 > 0.2)).toEqual([true, true]);
  const [first, second] = await videos();
  expect([first.t < 10, second.t >= 20 && second.t < 30, first.muted, second.muted]).toEqual([true, true, false, true]);
  await page.getByRole("button", { name: "Pause all" }).press("Enter");
  await expect.poll(async () => (await videos()).map(({ paused }) => paused)).toEqual([true, true]);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `side by side at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`compare-${width}.png`) });
  }

  await moments.first().getByRole("button", { name: "Remove" }).press("Enter");
  await expect(moments).toHaveCount(1);
  await page.reload();
  await expect(moments).toHaveCount(1);
  await moments.getByRole("button", { name: "Remove" }).press("Enter");
  await expect(page.getByRole("heading", { name: "No moments to compare" })).toBeVisible();

  // A range of the timeline can be compared too, up to the maximum.
  await page.goto(`${service.url}/#/videos/${id}?range=3.5-6`);
  await openTimeMenu(page);
  await compare.press("Enter");
  await expect(tray).toContainText("1 moment to compare");
  await page.goto(`${service.url}/#/search?video=${id}`);
  for (const index of [0, 1, 2]) await toggle(index);
  await expect(tray).toContainText("4 moments");
  await toggle(3);
  await expect(page.getByText("You can compare up to 4 moments.")).toBeVisible();
  await tray.getByRole("button", { name: "Clear" }).press("Enter");
  await expect(tray).toBeHidden();
});

test("the comparison bar never covers the focused element", async ({ page, service }) => {
  await page.addInitScript((moment) => localStorage.setItem("shotlog.compared", JSON.stringify([moment])), `m_${id}_0_10000`);
  for (const hash of [`#/search?video=${id}`, `#/videos/${id}`]) {
    for (const [width, height] of [[1280, 800], [360, 780]]) {
      await page.setViewportSize({ width, height });
      await page.goto(`${service.url}/${hash}`);
      await expect(page.locator(".hits li, #moments li").nth(2)).toBeVisible();
      await expect(page.locator(".tray")).toBeVisible();
      const covered = await page.evaluate(() => {
        const top = document.querySelector(".tray").getBoundingClientRect().top;
        const all = [...document.querySelectorAll("main :is(a, button, input, select, summary)")].filter((one) => one.checkVisibility());
        return all.filter((one) => { one.focus(); return one === document.activeElement && one.getBoundingClientRect().bottom > top + 1; }).map((one) => one.outerHTML.slice(0, 120));
      });
      expect(covered, `${hash} at ${width}`).toEqual([]);
      const side = page.locator(".side");
      if (width < 1000 || !(await side.count())) continue;
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      const bottom = await side.evaluate((one) => one.getBoundingClientRect().bottom);
      expect(bottom).toBeLessThanOrEqual(await page.locator(".tray").evaluate((one) => one.getBoundingClientRect().top));
    }
  }
});

test("a moment without a frame shows an audio placeholder", async ({ page, service }) => {
  await page.route("**/frames?*", (route) => route.fulfill({ status: 404, json: { detail: "no picture" } }));
  await page.goto(`${service.url}/#/search?video=${id}`);
  await expect(page.locator(".hits .thumb").first()).toContainText("♪");
  await expect(page.locator(".hits .thumb img")).toHaveCount(0);
});

test("the menu of a result is used by keyboard, by mouse and by touch", async ({ page, browser, service }) => {
  await page.goto(`${service.url}/#/search?video=${id}`);
  const hits = page.locator(".hits > li");
  const button = menuButton(hits.nth(1));
  await expect(hits.nth(1).locator(".body :is(button, a.button):visible")).toHaveCount(3);
  const menu = await openHitMenu(page, 1);
  await expect(button).toHaveAttribute("aria-expanded", "true");
  const items = menu.locator("[role^=menuitem]");
  const names = await items.allInnerTexts();
  expect(names).toEqual(expect.arrayContaining(["Play this moment", "Add to bin", "Show on timeline", "Save clip", "Copy link", "Compare"]));
  const focused = () => page.evaluate(() => document.activeElement.innerText);
  for (const [key, name] of [
    ["ArrowDown", names[1]], ["ArrowUp", names[0]], ["ArrowUp", names.at(-1)], ["ArrowDown", names[0]], ["End", names.at(-1)], ["Home", names[0]], ["s", names.find((one) => one.startsWith("S"))],
  ]) {
    await page.keyboard.press(key);
    expect(await focused(), key).toBe(name);
  }
  await page.keyboard.press("Escape");
  await expect(menu).toBeHidden();
  await expect(button).toBeFocused();
  await expect(button).toHaveAttribute("aria-expanded", "false");
  // Tab continues behind the button.
  await openHitMenu(page, 1);
  await page.keyboard.press("Tab");
  await expect(menu).toBeHidden();
  expect(await hits.nth(2).evaluate((one) => one.contains(document.activeElement))).toBe(true);
  // A second click on the button and a click outside close it.
  await button.click();
  await expect(menu).toBeVisible();
  await button.click();
  await expect(menu).toBeHidden();
  await button.click();
  await expect(menu).toBeVisible();
  await page.mouse.click(5, 400);
  await expect(menu).toBeHidden();
  // It stays within the window, also for the last result at the lower edge of a phone.
  const context = await browser.newContext({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  try {
    const phone = await context.newPage();
    await phone.goto(`${service.url}/#/search?video=${id}`);
    const last = phone.locator(".hits > li").last();
    await menuButton(last).tap();
    const box = await last.getByRole("menu").boundingBox();
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(390);
    expect(box.y).toBeGreaterThanOrEqual(0);
    expect(box.y + box.height).toBeLessThanOrEqual(800);
    await expectAccessible(phone, "the menu of a result on a phone", "[role=menu]:popover-open");
    await last.getByRole("menuitemcheckbox", { name: "Compare" }).tap();
    await expect(phone.getByRole("complementary", { name: "Compare" })).toContainText("1 moment to compare");
  } finally {
    await context.close();
  }
});

test("the clip and the link of a result are in its menu", async ({ page, service, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: service.url });
  await page.goto(`${service.url}/#/search?video=${id}`);
  const download = page.waitForEvent("download", { timeout: 60_000 });
  await (await openHitMenu(page, 1)).getByRole("menuitem", { name: "Save clip" }).click();
  const clip = await download;
  expect(clip.suggestedFilename()).toMatch(/^shotlog-sample.*\.mp4$/);
  expect((await stat(await clip.path())).size).toBeGreaterThan(1000);
  await (await openHitMenu(page, 1)).getByRole("menuitem", { name: "Copy link" }).click();
  await expect(page.getByText("Copied link to this moment.")).toBeVisible();
  await page.goto(await page.evaluate(() => navigator.clipboard.readText()));
  await expect.poll(() => time(page)).toBeGreaterThanOrEqual(9.9);
  await expect(page.getByText("Stops at 0:20")).toBeVisible();
});
