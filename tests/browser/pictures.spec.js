// Search by picture: pasted, dropped and chosen pictures, frames of a video, and similar moments.
import { expect, expectAccessible, menuButton, test } from "./fixtures.js";
import { addVideo, startService } from "./service.js";

// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

let id;
test.beforeAll(async ({ service }) => {
  const { vector_fields: fields } = await (await fetch(`${service.url}/schema`)).json();
  expect(fields.visual, "the default install compares pictures").toBeTruthy();
  id = await addVideo(service.url, { analyzers: "default_video", mode: "interval", interval: "10" });
});

const frame = async (service, t) => Buffer.from(await (await fetch(`${service.url}/videos/${id}/frames?t=${t}&width=1280`)).arrayBuffer());
const firstStart = (page) => page.locator(".hits .thumb").first().getAttribute("data-start").then(Number);
const criteria = (page) => page.getByRole("search").getByRole("list", { name: "Search criteria" });

// Records the requests of searches.
function watchQueries(page) {
  const sent = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/query") sent.push(request.postDataJSON());
  });
  return sent;
}

// Dispatches a paste or a drop with files of these types; an empty content is drawn as a picture.
const transfer = (page, kind, files, selector = "body") => page.evaluate(async ([kind, files, selector]) => {
  const data = new DataTransfer();
  for (const { name, type, base64, text } of files) {
    if (text) data.setData("text/plain", text);
    else data.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name, { type }));
  }
  const options = { bubbles: true, cancelable: true };
  const target = document.querySelector(selector);
  if (kind === "paste") target.dispatchEvent(new ClipboardEvent("paste", { ...options, clipboardData: data }));
  else for (const type of ["dragover", "drop"]) target.dispatchEvent(new DragEvent(type, { ...options, dataTransfer: data }));
}, [kind, files, selector]);
const asFile = (content, name = "picture.jpg", type = "image/jpeg") => ({ name, type, base64: content.toString("base64") });

test("a chosen picture finds the moment that it shows", async ({ page, service }, testInfo) => {
  const sent = watchQueries(page);
  await page.goto(`${service.url}/#/search`);
  await page.getByLabel("Search the footage").fill("soup");
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Search by picture" }).press("Enter");
  await (await choosing).setFiles({ name: "picture.jpg", mimeType: "image/jpeg", buffer: await frame(service, 15) });
  await expect(page.getByRole("heading", { name: /moments?$/ })).toBeVisible();
  expect(await firstStart(page)).toBe(10);
  expect(sent).toHaveLength(1);
  const { image, text, field, region } = sent[0];
  expect([text, field, region]).toEqual([undefined, "visual", undefined]);
  // The browser scales pictures down to 1024 pixels.
  const bytes = Buffer.from(image.replace("data:image/jpeg;base64,", ""), "base64");
  const size = await page.evaluate(async (base64) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))]));
    return [bitmap.width, bitmap.height];
  }, bytes.toString("base64"));
  expect(size).toEqual([1024, 576]);
  // The picture replaces the text, and remains after a reload.
  await expect(page.getByLabel("Search the footage")).toHaveValue("");
  await expect(criteria(page).getByRole("img")).toHaveCount(0);
  await expect(criteria(page).locator("img")).toBeVisible();
  await expect(page.getByRole("link", { name: "Ask about this" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Save search" }), "the picture is only in this tab").toHaveCount(0);
  await page.reload();
  await expect(page.locator(".hits li").first()).toBeVisible();
  expect(await firstStart(page)).toBe(10);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `search by picture at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`picture-${width}.png`) });
  }
  // Text replaces the picture.
  await page.getByLabel("Search the footage").fill("soup");
  await expect(criteria(page)).toHaveCount(0);
  await page.getByLabel("Search the footage").press("Enter");
  await expect.poll(() => sent.at(-1).text).toBe("soup");
  await expect(page).not.toHaveURL(/picture=/);
  await page.goBack();
  await expect(criteria(page)).toContainText("Picture");
  await page.getByRole("button", { name: "Remove picture" }).click();
  await expect(criteria(page)).toHaveCount(0);
});

test("a picture is pasted or dropped anywhere on the page", async ({ page, service }) => {
  const sent = watchQueries(page);
  await page.goto(`${service.url}/#/search`);
  await expect(page.getByRole("button", { name: "Search by picture" })).toBeVisible();
  const file = asFile(await frame(service, 15));
  await transfer(page, "paste", [file]);
  await expect(page.locator(".hits li").first()).toBeVisible();
  expect(await firstStart(page)).toBe(10);
  await transfer(page, "drop", [asFile(await frame(service, 45))], "main");
  await expect.poll(() => firstStart(page), "the town at night").toBeGreaterThanOrEqual(40);
  await expect(page).toHaveURL(/#\/search\?picture=/);
  expect(new Set(sent.map(({ image }) => image)).size).toBe(2);
  // Text that is copied with its picture is pasted as text.
  const before = sent.length;
  await transfer(page, "paste", [{ text: "soup" }, file], "#find-text");
  await transfer(page, "paste", [{ text: "soup" }], "#find-text");
  expect(sent).toHaveLength(before);
});

test("errors about pictures are shown", async ({ page, service }) => {
  await page.goto(`${service.url}/#/search`);
  await expect(page.getByRole("button", { name: "Search by picture" })).toBeVisible();
  await transfer(page, "paste", [asFile(Buffer.from("no picture"), "picture.png", "image/png")]);
  await expect(page.getByRole("alert")).toContainText("cannot read this file as a picture");
  await page.goto(`${service.url}/#/search?picture=p_unknown`);
  await expect(page.getByRole("alert")).toContainText("no longer available in this tab");
  await page.goto(`${service.url}/#/search?picture=f_${id}_999999000`);
  await expect(page.getByRole("alert")).toContainText("the length of the video");
  await page.route((url) => url.pathname === "/query", (route) => route.fulfill({ status: 413, json: { detail: "the body is too large" } }));
  await page.goto(`${service.url}/#/search?picture=f_${id}_5000`);
  await expect(page.getByRole("alert")).toContainText("the body is too large");
  await page.unroute((url) => url.pathname === "/query");
});

test("nothing offers pictures where they are not compared", async ({ page }) => {
  const plain = await startService({ environment: { SERVICE_IMAGE_EMBEDDER__KIND: "none" } });
  try {
    const context = await page.context().browser().newContext();
    const other = await context.newPage();
    await other.goto(`${plain.url}/#/search`);
    await expect(other.getByLabel("Search the footage")).toBeVisible();
    await expect(other.getByRole("button", { name: "Search by picture" })).toHaveCount(0);
    await other.goto(`${plain.url}/#/`);
    await expect(other.getByText(/This service recognises objects, people and speech\. It does not recognise: on-screen text.* For more, connect/)).toBeVisible();
    await context.close();
  } finally {
    await plain.stop();
  }
});

async function open(page, service, more = "") {
  await page.goto(`${service.url}/#/videos/${id}${more}`);
  await expect.poll(() => page.evaluate(() => document.querySelector("video")?.readyState ?? 0)).toBeGreaterThan(1);
}
async function pauseAt(page, time) {
  await page.getByLabel("Go to time").fill(time);
  await page.getByLabel("Go to time").press("Enter");
  await expect.poll(() => page.evaluate(() => [document.querySelector("video").paused, document.querySelector("video").seeking])).toEqual([true, false]);
}

/** The area of the picture within the player, which may have bars at its sides. */
const pictureBox = (page) =>
  page.locator("video").evaluate((video) => {
    const { x, y, width, height } = video.getBoundingClientRect();
    const scale = Math.min(width / video.videoWidth, height / video.videoHeight);
    const [shownWidth, shownHeight] = [video.videoWidth * scale, video.videoHeight * scale];
    return {
      x: x + (width - shownWidth) / 2,
      y: y + (height - shownHeight) / 2,
      width: shownWidth,
      height: shownHeight,
    };
  });

test("the frame of the player is searched for by keyboard", async ({ page, service }) => {
  const sent = watchQueries(page);
  await open(page, service);
  await pauseAt(page, "15");
  await page.getByRole("button", { name: "Search for this frame" }).press("Enter");
  await expect(page).toHaveURL(new RegExp(`#/search\\?picture=f_${id}_15000$`));
  await expect(criteria(page)).toContainText("Frame of shotlog-sample.mp4 at 0:15");
  await expect(page.locator(".hits li").first()).toBeVisible();
  expect(await firstStart(page)).toBe(10);
  expect([sent[0].region, sent[0].image.startsWith("data:image/jpeg;base64,")]).toEqual([undefined, true]);
  await page.getByText("Saved and recent searches").click();
  await expect(page.getByRole("link", { name: "Frame of shotlog-sample.mp4 at 0:15" })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("button", { name: "Search for this frame" })).toBeVisible();
});

test("a box on the paused picture is searched for", async ({ page, service }, testInfo) => {
  const sent = watchQueries(page);
  await open(page, service);
  await pauseAt(page, "15");
  const box = await pictureBox(page);
  const at = (x, y) => [box.x + box.width * x, box.y + box.height * y];
  const drag = async (from, to) => {
    await page.mouse.move(...at(...from));
    await page.mouse.down();
    await page.mouse.move(...at((from[0] + to[0]) / 2, to[1]));
    await page.mouse.move(...at(...to));
    await page.mouse.up();
  };
  const button = page.getByRole("button", { name: "Search for this box" });
  const paused = () => page.evaluate(() => document.querySelector("video").paused);
  await drag([0.25, 0.25], [0.75, 0.5]);
  await expect(button).toBeVisible();
  expect(await paused(), "a drag does not play").toBe(true);
  await page.keyboard.press("Escape");
  await expect(button).toHaveCount(0);
  await drag([0.75, 0.5], [0.25, 0.25]);
  await expect(button).toBeVisible();
  await page.mouse.click(...at(0.9, 0.9));
  await expect(button, "a click removes the box").toHaveCount(0);
  expect(await paused()).toBe(true);
  await drag([0.25, 0.25], [0.75, 0.5]);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `box at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`box-${width}.png`) });
  }
  await button.click();
  await expect(page.locator(".hits li").first()).toBeVisible();
  const [x, y, width, height] = sent[0].region;
  for (const [share, expected] of [[x, 0.25], [y, 0.25], [width, 0.5], [height, 0.25]]) expect(share).toBeCloseTo(expected, 1);
  await page.screenshot({ path: testInfo.outputPath("box-results.png") });
  // A seek removes the box, and a click plays.
  await page.goBack();
  await expect.poll(() => page.evaluate(() => document.querySelector("video")?.readyState ?? 0)).toBeGreaterThan(1);
  await pauseAt(page, "5");
  await page.locator("video").click();
  await expect.poll(paused).toBe(false);
});

test("similar moments are found by picture or by text", async ({ page, service }, testInfo) => {
  const sent = watchQueries(page);
  await page.goto(`${service.url}/#/search?video=${id}`);
  const first = page.locator(".hits li").first();
  await expect(first).toBeVisible();
  const menu = menuButton(first);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.keyboard.press("Escape");
    await menu.press("Enter");
    await expect(first.getByRole("menuitem", { name: "By what is shown" })).toBeVisible();
    await expectAccessible(page, `more like this at ${width}`, "[role=menu]:popover-open");
    await page.screenshot({ path: testInfo.outputPath(`more-like-this-${width}.png`) });
  }
  const start = await firstStart(page);
  await first.getByRole("menuitem", { name: "By what is shown" }).press("Enter");
  await expect(criteria(page)).toContainText("Looks like shotlog-sample.mp4 at 0:");
  await expect.poll(() => sent.at(-1)).toMatchObject({ like: expect.stringMatching(`^m_${id}_${start * 1000}_`), field: "visual" });
  await expect(page.locator(".hits li").first()).toBeVisible();
  expect(await firstStart(page)).not.toBe(start);
  // A text replaces the example, and is not compared with pictures only.
  await page.getByLabel("Search the footage").fill("soup");
  await page.getByLabel("Search the footage").press("Enter");
  await expect.poll(() => sent.at(-1)).toMatchObject({ text: "soup", field: "combined" });
  await page.goBack();
  await page.goBack();
  await menu.press("Enter");
  await first.getByRole("menuitem", { name: "By what is said or written" }).press("Enter");
  await expect(criteria(page)).toContainText("Similar to shotlog-sample.mp4 at 0:");
  await expect.poll(() => sent.at(-1)).toMatchObject({ like: expect.stringMatching("^m_"), field: "combined" });
});

// The output of an analyzer with one labelled box, in the place where its presentation expects it.
function outputWithBox({ tracks: [{ items, label }] }, text, box) {
  const keys = items.split("/").slice(1);
  const item = [{ ...(label ? { [label]: text } : {}), locations: [{ t: 5, box }] }];
  return keys.reduceRight((inner, key) => ({ [key]: inner }), item);
}

test("boxes have a legend that names the analysis", async ({ page, service }, testInfo) => {
  const { presentation } = await (await fetch(`${service.url}/schema`)).json();
  const boxed = presentation.analyzers.filter(({ kind }) => ["objects", "people_in_view", "screen_text"].includes(kind));
  expect(boxed).toHaveLength(3);
  await page.route((url) => url.pathname === `/videos/${id}/chunks/0`, async (route) => {
    const chunk = await (await route.fetch()).json();
    const outputs = boxed.map((one, index) => [one.id, outputWithBox(one, `label ${index}`, [0.1 + index * 0.25, 0.2, 0.2, 0.4])]);
    await route.fulfill({ json: { ...chunk, ...Object.fromEntries(outputs) } });
  });
  await open(page, service);
  await page.getByRole("button", { name: "Show details of the moment at 0:00" }).click();
  const legend = page.getByRole("list", { name: "Boxes" });
  await expect(legend.getByRole("listitem")).toHaveCount(3);
  for (const { label } of boxed) await expect(legend.getByText(label, { exact: true })).toBeVisible();
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `boxes at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`boxes-${width}.png`) });
  }
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(legend, "boxes are shown while paused").toHaveCount(0);
});
