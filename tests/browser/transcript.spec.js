// The transcript as an editor: following, selecting, quoting, correcting, finding and replacing words.
import { expect, expectAccessible, test } from "./fixtures.js";
import { spokenVideo } from "./spoken-video.js";

const text = (page) => page.locator("#transcript");
const word = (page, index) => page.locator(`[data-word="${index}"]`);
const bar = (page) => page.getByRole("group", { name: "Selected words" });
const player = (page) => page.evaluate(() => {
  const { paused, currentTime } = document.querySelector("video");
  return { paused, t: currentTime };
});
const json = async (service, path, init) => (await fetch(`${service.url}/${path}`, init)).json();

async function open(page, service, more = "") {
  const { id, sent } = await spokenVideo(page);
  await page.goto(`${service.url}/#/videos/${id}${more}`);
  await expect(word(page, 0)).toBeVisible();
  await expect.poll(() => page.evaluate(() => document.querySelector("video").readyState)).toBeGreaterThan(1);
  return { id, sent };
}
/** Drags from one word to another; `before` runs while the button is still pressed. */
async function dragWords(page, from, to, before = () => {}) {
  const [a, b] = [await word(page, from).boundingBox(), await word(page, to).boundingBox()];
  await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
  await page.mouse.down();
  await page.mouse.move(b.x + b.width / 3, b.y + b.height / 2, { steps: 6 });
  await before();
  await page.mouse.up();
}

test("the spoken sentence is marked, and a word seeks", async ({ page, service }) => {
  await open(page, service);
  await word(page, 6).click();
  await expect.poll(async () => (await player(page)).t).toBeGreaterThan(5);
  expect((await player(page)).paused).toBe(true);
  await expect(page.locator("#transcript .spoken")).toHaveText(["Bring", "the", "web", "tickets."]);
  await page.getByRole("button", { name: "Play from 0:11" }).click();
  await expect(page.locator("#transcript .spoken")).toHaveText(["Which", "ferry", "do", "you", "mean?"]);
  await expect(page.getByRole("button", { name: "Play from 0:11" })).toHaveAttribute("aria-current", "true");
});

test("the transcript follows playback until the user scrolls", async ({ page, service }) => {
  await page.setViewportSize({ width: 1280, height: 560 });
  await open(page, service);
  const follow = page.getByLabel("Follow playback");
  const seek = (t) => page.evaluate((at) => { document.querySelector("video").currentTime = at; }, t);
  await seek(55);
  await expect(page.getByRole("button", { name: "Play from 0:51" })).toBeInViewport();
  await text(page).hover();
  await page.mouse.wheel(0, -2000);
  await expect(follow).not.toBeChecked();
  await expect(page.getByRole("button", { name: "Play from 0:01" })).toBeInViewport();
  await seek(45);
  await expect(page.getByRole("button", { name: "Play from 0:41" })).toHaveAttribute("aria-current", "true");
  await expect(page.getByRole("button", { name: "Play from 0:01" })).toBeInViewport();
  await follow.check();
  await expect(page.getByRole("button", { name: "Play from 0:41" })).toBeInViewport();
});

test("words selected with the mouse are added to a bin", async ({ page, service }) => {
  const headers = { "Content-Type": "application/json" };
  const { bin_id: bin } = await json(service, "bins", { method: "POST", headers, body: JSON.stringify({ name: "Quotes" }) });
  await page.addInitScript((last) => localStorage.setItem("shotlog.bin", JSON.stringify(last)), { id: bin, name: "Quotes" });
  const added = [];
  // The service does not have the video.
  await page.route((url) => url.pathname === `/bins/${bin}/selects`, (route) => {
    added.push(...route.request().postDataJSON().selects);
    return route.fulfill({ json: { bin: { bin_id: bin, name: "Quotes", version: 2 }, selects: [{ select_id: "s1" }] } });
  });
  const { id } = await open(page, service);
  // The text keeps its size meanwhile.
  await dragWords(page, 1, 3, async () => {
    await expect(word(page, 3)).toHaveClass(/selected/);
    await expect(bar(page)).toHaveCount(0);
  });
  await expect(page.locator("#transcript .selected")).toHaveText(["ferry", "leaves", "at"]);
  await expect(bar(page)).toBeVisible();
  await expectAccessible(page, "selected words");
  await bar(page).getByRole("button", { name: "Add to bin" }).click();
  await expect.poll(() => added.length).toBe(1);
  expect(added[0]).toMatchObject({ video_id: id });
  expect(added[0].start).toBeGreaterThan(1);
  expect(added[0].end).toBeLessThan(5.2);
  await page.keyboard.press("b");
  await expect.poll(() => added.length).toBe(2);
  await json(service, `bins/${bin}`, { method: "DELETE" }).catch(() => {});
});

test("words are selected, looped and quoted by keyboard", async ({ page, service, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: service.url });
  await open(page, service);
  await page.keyboard.press("f");
  await expect(page.getByLabel("Find in transcript")).toBeFocused();
  for (let step = 0; step < 4; step += 1) {
    if (await text(page).evaluate((element) => element === document.activeElement)) break;
    await page.keyboard.press("Tab");
  }
  await expect(text(page)).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Home");
  for (let step = 0; step < 2; step += 1) await page.keyboard.press("Shift+ArrowRight");
  await expect(page.locator("#transcript .selected")).toHaveText(["Which", "ferry"]);
  // The arrow keys did not seek.
  expect((await player(page)).t).toBe(0);
  await page.keyboard.press("Shift+Enter");
  await expect(bar(page).getByRole("button", { name: "Loop" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByText(/^Loops 0:1/)).toBeVisible();
  // It starts again.
  await page.evaluate(() => {
    window.jumps = 0;
    document.querySelector("video").addEventListener("seeking", () => { window.jumps += 1; });
  });
  await expect.poll(() => page.evaluate(() => window.jumps)).toBeGreaterThan(1);
  const { t } = await player(page);
  expect(t).toBeGreaterThan(10);
  expect(t).toBeLessThan(16);
  await page.keyboard.press("c");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("“Which ferry”\n— S2, harbour.wav, 0:11–0:15");
  await page.keyboard.press("Escape");
  await expect(bar(page)).toBeHidden();
  await expect(text(page)).toBeFocused();
});

test("words are corrected in place while they loop", async ({ page, service }) => {
  const { sent } = await open(page, service);
  await word(page, 7).dblclick();
  await expect(page.locator("#transcript .selected")).toHaveText(["web"]);
  await bar(page).getByRole("button", { name: "Correct" }).click();
  const field = page.getByRole("textbox", { name: "Corrected words" });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("web");
  await expect.poll(async () => (await player(page)).paused).toBe(false);
  await expectAccessible(page, "correction in place");
  await page.keyboard.press("Escape");
  await expect(field).toBeHidden();
  await expect.poll(async () => (await player(page)).paused).toBe(true);
  await page.keyboard.press("e");
  await field.fill("Webb");
  await field.press("Enter");
  await expect(field).toBeHidden();
  expect(sent).toEqual([{ of: "words", from: "web", to: "Webb", start: 1, end: 9 }]);
  await expect(text(page)).toContainText("Bring the Webb tickets.");
  await expect(text(page)).toContainText("The web page says so.");
});

test("a correction that is refused is shown, and the text stays", async ({ page, service }) => {
  await open(page, service);
  await page.route(/\/corrections$/, (route) => (route.request().method() === "POST" ? route.fulfill({ status: 400, json: { detail: "nobody says that" } }) : route.fallback()));
  await word(page, 0).dblclick();
  await bar(page).getByRole("button", { name: "Correct" }).click();
  const field = page.getByRole("textbox", { name: "Corrected words" });
  await field.fill("A");
  await bar(page).getByRole("button", { name: "Save" }).click();
  await expect(bar(page).getByRole("alert")).toHaveText("nobody says that");
  await expect(field).toHaveValue("A");
});

test("words are found and replaced, one or all", async ({ page, service }) => {
  const { sent } = await open(page, service);
  const find = page.getByLabel("Find in transcript");
  const status = page.getByRole("search").getByRole("status");
  await find.fill("ferry");
  await expect(status).toHaveText("3 matches · 1 of 3");
  await find.press("Enter");
  await expect(status).toHaveText("3 matches · 2 of 3");
  await expect(page.locator("#transcript .current")).toHaveAttribute("data-word", "10");
  // The keys of the text act on the match: E corrects its sentence.
  await find.press("ArrowDown");
  await expect(text(page)).toBeFocused();
  await expect(word(page, 10)).toHaveClass(/caret/);
  await page.keyboard.press("e");
  const field = page.getByRole("textbox", { name: "Corrected words" });
  await expect(field).toHaveValue("Which ferry do you mean?");
  await field.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Previous match" }).click();
  await expect(status).toHaveText("3 matches · 1 of 3");
  await page.getByRole("button", { name: "Replace", exact: true }).click();
  await page.getByLabel("Replace with").fill("boat");
  await expectAccessible(page, "find and replace");
  await page.getByRole("button", { name: "Replace this match" }).click();
  await expect(text(page)).toContainText("The boat leaves at nine.");
  await expect(status).toHaveText("2 matches · 1 of 2");
  expect(sent).toEqual([{ of: "words", from: "ferry", to: "boat", start: 1, end: 9 }]);
  await page.getByRole("button", { name: "Replace all" }).click();
  await expect(text(page)).toContainText("at the boat office");
  await expect(status).toHaveText("0 matches");
  expect(sent.slice(1)).toEqual([{ of: "words", from: "ferry", to: "boat" }]);
  await find.fill("submarine");
  await expect(text(page)).toContainText("No matches for “submarine”.");
});

test("the keys of the transcript are listed", async ({ page, service }) => {
  await open(page, service);
  await page.keyboard.press("?");
  const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  for (const what of ["Find in the transcript", "Select words in the focused transcript", "Play / loop the selected words", "Correct / copy the selected words"]) await expect(list).toContainText(what);
});

for (const [width, colorScheme] of [[360, "dark"], [1280, "dark"], [1920, "light"]]) {
  test(`the editor is accessible at ${width} px, ${colorScheme}`, async ({ page, service }) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await open(page, service, "?t=2");
    await page.keyboard.press("k");
    await page.getByLabel("Find in transcript").fill("ferry");
    await page.getByRole("button", { name: "Replace", exact: true }).click();
    await text(page).focus();
    for (let step = 0; step < 3; step += 1) await page.keyboard.press("Shift+ArrowRight");
    await expect(bar(page)).toBeVisible();
    await page.evaluate(() => scrollTo(0, 0));
    await expectAccessible(page, `editor at ${width}`);
  });
}
