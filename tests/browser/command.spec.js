// The field that goes anywhere, by keyboard only.
import { expect, expectAccessible, test } from "./fixtures.js";

const video = { video_id: "00c0ffee00c0ffee", filename: "harbour.mp4", video_url: "/storage/none.mp4", poster_url: null, duration: 83, chunks: 3, chunk_config: "", analyzers: ["default_video"] };
const json = (page, path, answer) => page.route((url) => url.pathname === path, (route) => route.fulfill({ json: answer(new URL(route.request().url()).searchParams) }));

async function mockNames(page, service) {
  const sent = [];
  const real = await (await fetch(`${service.url}/schema`)).json();
  const speakers = { type: "list[str]", matches: "any", payload_field: "speakers" };
  await json(page, "/schema", () => ({ ...real, filters: { speakers } }));
  await json(page, "/query", () => ({ answer: null, results: [] }));
  await json(page, "/videos", (params) => {
    const part = params.get("filename");
    if (part !== null) sent.push(part);
    const videos = [video].filter(({ filename }) => filename.includes(part ?? ""));
    return { videos, total: videos.length };
  });
  await page.route(/\/(videos|bins)\/\w+/, (route) => route.fulfill({ status: 404, json: { detail: "not here" } }));
  await json(page, "/bins", () => ({ bins: [{ bin_id: "b1", name: "Best of harbour", description: "", selects: 1, version: 1 }], total: 1 }));
  await json(page, "/values", (params) => {
    const values = [{ value: "Harriet", moments: 4 }].filter(() => params.get("field") === "speakers" && "harriet".startsWith(params.get("prefix") ?? "-"));
    return { field: params.get("field"), values, more: false };
  });
  return sent;
}
const field = (page) => page.getByRole("combobox", { name: "Go to or search" });
const options = (page) => page.getByRole("dialog").getByRole("option");
const active = (page) => page.getByRole("dialog").getByRole("option", { selected: true });

test("one field finds pages, videos, bins, people and moments by keyboard", async ({ page, service }, testInfo) => {
  const sent = await mockNames(page, service);
  const scripts = [];
  page.on("request", (request) => { if (/CommandField/.test(request.url())) scripts.push(request.url()); });
  await page.goto(service.url);
  await expect(page.getByRole("link", { name: /^Open harbour/ })).toBeVisible();
  await page.waitForLoadState("networkidle");
  expect(scripts, "it is loaded when it is opened").toEqual([]);
  await page.keyboard.press("Control+k");
  await expect(field(page)).toBeFocused();
  expect(scripts).toHaveLength(1);
  await expect(options(page)).toHaveText(["Library", "Search", "Ask", "People", "Bins", "Jobs", "Alerts", "Newest comments", "Share links", "Settings", /harbour\.mp4\s*1:23/]);
  await expect(active(page)).toHaveText("Library");
  await field(page).pressSequentially("har");
  await expect(options(page)).toHaveText(["Share links", "Search for “har”", "Ask “har”", /harbour\.mp4\s*1:23/, "Best of harbour", /Harriet\s*4 moments/]);
  expect(sent, "requests wait for the end of typing").toEqual(["har"]);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `command field at ${width}`, "dialog");
    await page.screenshot({ path: testInfo.outputPath(`command-${width}.png`) });
  }
  await page.keyboard.press("ArrowUp");
  await expect(active(page)).toContainText("Harriet");
  await expect(field(page)).toHaveAttribute("aria-activedescendant", await active(page).getAttribute("id"));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#\/search\?filter\.speakers=Harriet$/);
  await expect(field(page)).toHaveCount(0);
  await expect(page.getByRole("heading", { level: 1, name: "Search" })).toBeFocused();

  for (const [text, presses, address] of [
    ["a red boat", 0, /#\/search\?q=a\+red\+boat$/],
    ["who leaves", 1, /#\/ask\?q=who\+leaves$/],
    ["harb", 2, /#\/videos\/00c0ffee00c0ffee$/],
    ["harb", 3, /#\/bins\/b1$/],
    ["sett", 0, /#\/settings$/],
  ]) {
    await page.keyboard.press("Control+k");
    await field(page).pressSequentially(text);
    if (presses > 1) await expect(options(page)).toHaveCount(4);
    for (let at = 0; at < presses; at += 1) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(address);
  }
});

test("the field opens from a text field and by its button, and Escape returns the focus", async ({ page, service }) => {
  await mockNames(page, service);
  await page.goto(`${service.url}/#/search`);
  const text = page.getByLabel("Search the footage");
  await text.fill("boat");
  await text.press("Control+k");
  await expect(field(page)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(field(page)).toHaveCount(0);
  await expect(text).toBeFocused();
  await page.getByRole("button", { name: "Go to or search" }).press("Enter");
  await field(page).fill("jobs");
  await options(page).filter({ hasText: /^Jobs\s*$/ }).click();
  await expect(page).toHaveURL(/#\/jobs$/);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toContainText("Go to a page, video, bin or person, or search");
});

test("a source that fails leaves the others", async ({ page, service }) => {
  await mockNames(page, service);
  await page.route((url) => url.pathname === "/bins", (route) => route.fulfill({ status: 403, json: { detail: "not yours" } }));
  await page.goto(service.url);
  await page.getByRole("button", { name: "Go to or search" }).press("Enter");
  await field(page).fill("harb");
  await expect(options(page)).toHaveText(["Search for “harb”", "Ask “harb”", /harbour\.mp4/]);
});
