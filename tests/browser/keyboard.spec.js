// The journey by keyboard: no test here uses the mouse.
import { expect, test } from "./fixtures.js";
import { sample } from "./service.js";

const NAME = "shotlog-sample.mp4";
const MOST_STEPS = 120;

/** Presses Tab (or `key`) until the target has visible focus. */
async function reach(page, target, { key = "Tab" } = {}) {
  await expect(target).toBeAttached();
  const there = () => target.evaluate((element) => element === document.activeElement);
  for (let step = 0; step < MOST_STEPS && !(await there()); step += 1) await page.keyboard.press(key);
  expect(await there(), `${target} is reached with ${key}`).toBe(true);
  expect(await target.evaluate((element) => element.matches(":focus-visible")), `${target} shows that it has the focus`).toBe(true);
}
async function press(page, target, { key = "Tab", by = "Enter" } = {}) {
  await reach(page, target, { key });
  await page.keyboard.press(by);
}
/** Navigates by the links at the top of the page. */
async function visit(page, name) {
  await press(page, page.getByRole("navigation").getByRole("link", { name }), { key: "Shift+Tab" });
  await expect(page.getByRole("heading", { level: 1, name })).toBeFocused();
}
const player = (page) => page.evaluate(() => {
  const { paused, currentTime } = document.querySelector("video");
  return { paused, t: currentTime };
});

test("a video is added, watched, searched, asked about, exported and deleted by keyboard", async ({ page, service }) => {
  await page.goto(service.url);
  await expect(page.getByText("Nothing here yet")).toBeVisible();

  await test.step("add a file", async () => {
    await press(page, page.getByRole("link", { name: /^Skip/ }));
    await expect(page.getByRole("main")).toBeFocused();
    const choosing = page.waitForEvent("filechooser");
    await press(page, page.getByLabel("Choose files"), { by: "Space" });
    await (await choosing).setFiles(sample);
    await expect(page.locator(".drop")).toContainText(NAME);
    await press(page, page.locator("form summary").filter({ hasText: "Options" }));
    const boxes = page.getByRole("group", { name: /Look for/ }).getByRole("checkbox");
    await expect(boxes.first()).toBeVisible();
    const { analyzers } = await (await fetch(`${service.url}/schema`)).json();
    for (const [at, id] of analyzers.entries()) {
      const box = boxes.nth(at);
      if (id === "default_video" || !(await box.isChecked())) continue;
      await press(page, box, { by: "Space" });
      await expect(box).not.toBeChecked();
    }
    const split = page.getByLabel("Split into moments");
    await reach(page, split);
    for (let step = 0; step < 6 && (await split.inputValue()) !== "interval"; step += 1) await page.keyboard.press("ArrowDown");
    await expect(page.getByLabel("Every (s)")).toHaveValue("10");
    await press(page, page.getByRole("button", { name: "Add", exact: true }), { key: "Shift+Tab" });
  });

  await test.step("follow the job and open its video", async () => {
    await visit(page, "Jobs");
    const job = page.getByRole("main").getByRole("listitem").filter({ hasText: NAME }).first();
    await expect(job).toContainText("done", { timeout: 240_000 });
    await press(page, job.getByRole("link", { name: "Open video" }));
    await expect(page.getByRole("heading", { level: 1, name: NAME })).toBeFocused();
    await expect.poll(() => page.evaluate(() => document.querySelector("video")?.readyState ?? 0)).toBeGreaterThan(1);
  });

  await test.step("play, step and go to a time", async () => {
    await page.keyboard.press("Space");
    await expect.poll(async () => (await player(page)).paused).toBe(false);
    await page.keyboard.press("k");
    await expect.poll(async () => (await player(page)).paused).toBe(true);
    const before = (await player(page)).t;
    await page.keyboard.press(".");
    await expect.poll(async () => (await player(page)).t).toBeGreaterThan(before);
    await reach(page, page.getByLabel("Go to time"));
    await page.keyboard.type("0:12");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await player(page)).t).toBeCloseTo(12, 1);
  });

  await test.step("select a range and play it", async () => {
    // Moves focus out of the text field, where letters are text.
    await reach(page, page.getByRole("button", { name: "Next frame" }));
    await page.keyboard.press("i");
    const slider = page.getByRole("slider", { name: "Time" });
    await reach(page, slider);
    await page.keyboard.press("ArrowRight");
    await expect.poll(async () => (await player(page)).t).toBeGreaterThanOrEqual(16.9);
    await page.keyboard.press("k");
    await page.keyboard.press("o");
    const range = page.getByRole("group", { name: "Range" });
    await expect(range).toBeVisible();
    await press(page, range.getByRole("button", { name: "Play", exact: true }));
    await expect(page.getByText("Stopped at the end")).toBeVisible();
    await press(page, page.getByRole("button", { name: "Continue" }), { key: "Shift+Tab" });
    await expect.poll(async () => (await player(page)).paused).toBe(false);
    await page.keyboard.press("k");
    await page.keyboard.press("x");
    await expect(range).toBeHidden();
  });

  await test.step("switch a lane off and on", async () => {
    await press(page, page.locator("summary").filter({ hasText: "Lanes" }));
    const lane = page.getByRole("checkbox", { name: "Moments" });
    await press(page, lane, { by: "Space" });
    await expect(page.getByRole("list", { name: "Lanes" })).not.toContainText("Moments");
    await page.keyboard.press("Space");
    await page.keyboard.press("Escape");
    await expect(lane).toBeHidden();
    await expect(page.locator("summary").filter({ hasText: "Lanes" })).toBeFocused();
  });

  await test.step("play a moment, inspect it and return to the list", async () => {
    const tabs = page.getByRole("tablist", { name: "Results" });
    await reach(page, tabs.getByRole("tab", { name: "Moments" }));
    await page.keyboard.press("ArrowRight");
    await expect(tabs.getByRole("tab", { selected: true })).toBeFocused();
    await expect(tabs.getByRole("tab", { selected: true })).not.toHaveText("Moments");
    await page.keyboard.press("ArrowLeft");
    await press(page, page.locator("#moments .moment").nth(1));
    await expect.poll(async () => (await player(page)).t).toBeGreaterThanOrEqual(10);
    await expect.poll(async () => (await player(page)).t).toBeLessThan(13);
    await page.keyboard.press("k");
    await press(page, page.getByRole("button", { name: "Show details of the moment at 0:10" }));
    await expect(page.getByRole("button", { name: "All moments" })).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(tabs.getByRole("tab", { selected: true })).toBeFocused();
  });

  await test.step("export it", async () => {
    await press(page, page.locator("summary").filter({ hasText: "Export" }), { key: "Shift+Tab" });
    const download = page.waitForEvent("download");
    await press(page, page.getByRole("link", { name: "Everything (JSON)" }));
    expect((await download).suggestedFilename()).toMatch(/json$/);
  });

  await test.step("search, play a result in place and close it", async () => {
    await page.keyboard.press("/");
    await expect(page.getByRole("searchbox")).toBeFocused();
    await page.keyboard.type("people talking");
    await page.keyboard.press("Enter");
    const hit = page.locator(".hits .thumb").first();
    await press(page, hit);
    await expect(page.locator(".hits video")).toBeFocused();
    await press(page, page.getByRole("button", { name: "Close" }));
    await expect(hit).toBeFocused();
  });

  await test.step("ask and play a citation", async () => {
    await visit(page, "Ask");
    await reach(page, page.getByLabel("Ask about the footage"));
    await page.keyboard.type("Who speaks?");
    await page.keyboard.press("Enter");
    const cited = page.locator(".answer-text .cite").first();
    await expect(cited).toBeVisible();
    await press(page, cited, { key: "Shift+Tab" });
    await expect(page.locator("main video")).toBeFocused();
    await press(page, page.getByRole("button", { name: "Close" }));
    await expect(cited).toBeFocused();
  });

  await test.step("delete it after confirmation", async () => {
    await visit(page, "Library");
    await press(page, page.getByRole("link", { name: `Open ${NAME}` }));
    await expect(page.getByRole("heading", { level: 1, name: NAME })).toBeFocused();
    await press(page, page.getByRole("button", { name: "Delete", exact: true }));
    const dialog = page.getByRole("dialog");
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
    await expect(page.getByRole("button", { name: "Delete", exact: true })).toBeFocused();
    await page.keyboard.press("Enter");
    await press(page, dialog.getByRole("button", { name: "Delete", exact: true }));
    await expect(page.getByText("Nothing here yet")).toBeVisible();
    await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  });
});
