// A new user's journey through the pages, in order, on one installation.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { expect, eachTab, expectAccessible, expectPlayingFrom, openTab, test, watchSeeks } from "./fixtures.js";
import { sample } from "./service.js";

test.describe.configure({ mode: "serial" });
test.use({ settings: { environment: { SERVICE_FETCH__ALLOW_PRIVATE: "true" } } });

const tile = (page) => page.getByRole("link", { name: /^Open shotlog-sample\.mp4/ });
const openSample = async (page, service) => {
  await page.goto(service.url);
  await tile(page).click();
  await expect(page.getByRole("heading", { name: "shotlog-sample.mp4" })).toBeVisible();
  await expect.poll(() => page.evaluate(() => document.querySelector("video")?.readyState ?? 0)).toBeGreaterThan(0);
};
// -1 until the page shows the video.
const currentTime = (page) => page.evaluate(() => document.querySelector("video")?.currentTime ?? -1);

test("an empty installation explains what to do on every page", async ({ page, service }) => {
  await page.goto(service.url);
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  await expect(page.getByText("Ready", { exact: true })).toBeVisible();
  for (const [name, text] of [["Search", "Find moments by meaning"], ["Ask", "Ask in plain words"], ["Jobs", "No jobs yet"]]) {
    await page.getByRole("link", { name, exact: true }).click();
    await expect(page.getByText(text)).toBeVisible();
  }
  await page.goto(`${service.url}/#/nowhere`);
  await expect(page.getByRole("heading", { name: "This page does not exist" })).toBeVisible();
});

test("an upload shows its progress and ends as a video in the library", async ({ page, service }) => {
  await page.goto(service.url);
  await page.getByLabel("Choose files").setInputFiles(sample);
  await expect(page.getByText(/shotlog-sample\.mp4, \d/)).toBeVisible();
  await page.getByText("Options", { exact: true }).click();
  await page.getByLabel("Min. length (s)").fill("3");
  await page.getByRole("button", { name: "Add", exact: true }).click();

  const job = page.getByRole("listitem").filter({ has: page.getByRole("progressbar") });
  await expect(job).toContainText("shotlog-sample.mp4");
  await expect(job).toContainText(/Uploading|Starting|Fetching|Splitting into moments|Split into moments|Analysing|Indexing|Summarising|Waiting/);

  await expect(tile(page)).toBeVisible({ timeout: 500_000 });
  await expect(page.getByRole("heading", { name: "In progress" })).toBeHidden();
  const poster = tile(page).locator("img");
  await expect.poll(() => poster.evaluate((image) => image.complete && image.naturalWidth > 0)).toBe(true);
});

test("moving over a poster scrubs through the video", async ({ page, service }) => {
  await page.goto(service.url);
  const poster = tile(page).locator(".poster");
  await poster.hover();
  await expect(poster.locator(".scrub")).toBeVisible();
  const shown = () => poster.locator(".time").textContent();
  const box = await poster.boundingBox();
  await page.mouse.move(box.x + box.width * 0.1, box.y + box.height / 2);
  const early = await shown();
  await page.mouse.move(box.x + box.width * 0.9, box.y + box.height / 2);
  await expect.poll(shown).not.toBe(early);
});

test("a URL is fetched, and a failed job shows why and can be retried", async ({ page, service }) => {
  const clip = await readFile(sample);
  const server = createServer((request, answer) => {
    if (request.url.endsWith(".mp4")) answer.writeHead(200, { "Content-Type": "video/mp4", "Content-Length": clip.length }).end(clip);
    else answer.writeHead(404).end();
  });
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  try {
    const origin = `http://127.0.0.1:${server.address().port}`;
    await page.goto(service.url);
    await page.getByRole("button", { name: "From a URL" }).click();
    await expect(page.getByLabel("From a URL")).toBeFocused();
    await page.getByText("Options", { exact: true }).click();
    await page.getByLabel("Min. length (s)").fill("3");
    await page.getByLabel("From a URL").fill(`${origin}/shotlog-sample.mp4`);
    const accepted = page.waitForResponse((answer) => answer.url().endsWith("/videos/url"));
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const { job_id: jobId } = await (await accepted).json();
    await expect.poll(async () => (await (await fetch(`${service.url}/jobs/${jobId}`)).json()).status, { timeout: 300_000 }).toBe("done");
    await page.getByRole("link", { name: "Jobs" }).click();
    await expect(page.getByRole("listitem").filter({ hasText: "done" }).first()).toContainText("Open video");

    await page.getByRole("link", { name: "Library" }).click();
    await page.getByRole("button", { name: "From a URL" }).click();
    await page.getByLabel("From a URL").fill(`${origin}/nothing`);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const failed = page.getByRole("listitem").filter({ hasText: "failed" });
    await expect(failed).toContainText(`${origin}/nothing`);
    await expect(failed).toContainText("404");
    const again = page.waitForResponse((answer) => answer.url().endsWith("/videos/url"));
    await failed.getByRole("button", { name: "Try again" }).click();
    expect((await again).status()).toBe(202);
  } finally {
    server.close();
  }
});

test("the page shows rejected input, and why analyzers exclude each other", async ({ page, service }) => {
  await page.goto(service.url);
  await page.getByRole("button", { name: "From a URL" }).click();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.locator("#add-error")).toContainText("Choose a file or enter a URL");
  await page.getByLabel("From a URL").fill("ftp://example.org/clip.mp4");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.locator("#add-error")).toContainText(/http/i);

  await page.getByText("Options", { exact: true }).click();
  const schema = await (await fetch(`${service.url}/schema`)).json();
  for (const [first, second] of schema.exclusive_groups) {
    const box = (id) => page.locator(".checks label").nth(schema.analyzers.indexOf(id)).locator("input");
    await box(first).check();
    await box(second).check();
    await expect(box(first)).not.toBeChecked();
    await expect(page.getByText(/was turned off because/)).toBeVisible();
  }

  await page.getByLabel("Split into moments").selectOption(schema.chunking.modes.weights);
  const { weights } = schema.chunking.presets.audio_video;
  for (const [detector, finds] of Object.entries(schema.chunking.detectors)) {
    await expect(page.getByLabel(finds, { exact: false })).toHaveValue(String(weights[detector]));
  }
  await page.getByLabel("Pauses").fill("2");
  await expect(page.getByLabel("Pauses")).toHaveValue("2");
  await page.getByLabel("Split into moments").selectOption("interval");
  await expect(page.getByLabel("Every (s)")).toHaveValue("10");
});

test("a file is dropped anywhere on the page", async ({ page, service }) => {
  await page.goto(service.url);
  const data = await page.evaluateHandle(() => {
    const carried = new DataTransfer();
    carried.items.add(new File(["not a film"], "dropped.mp4", { type: "video/mp4" }));
    return carried;
  });
  await page.dispatchEvent("h1", "dragover", { dataTransfer: data });
  await expect(page.getByText("Drop files to add them")).toBeVisible();
  await page.dispatchEvent("h1", "drop", { dataTransfer: data });
  await expect(page.locator(".drop")).toContainText("dropped.mp4");
});

test("a video lists its moments and plays from a clicked one", async ({ page, service }) => {
  await openSample(page, service);
  await expect.poll(() => page.evaluate(() => Math.round(document.querySelector("video")?.duration))).toBe(52);
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  const { total } = await (await fetch(`${service.url}/videos/${videos[0].video_id}/chunks`)).json();
  await expect(page.getByText(`${total} moments`)).toBeVisible();

  await watchSeeks(page);
  await page.locator("#moments .moment").nth(1).click();
  const start = Number(new URL(page.url()).hash.match(/t=([\d.]+)/)[1]);
  expect(start).toBeGreaterThan(0);
  await expectPlayingFrom(page, start);
});

test("every panel with data is shown, and its moments seek", async ({ page, service }) => {
  await openSample(page, service);
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  const { available } = await (await fetch(`${service.url}/videos/${videos[0].video_id}/aggregates`)).json();
  for (const [aggregate, name] of [["summary", "Summary"], ["chapters", "Chapters"], ["events", "Events"], ["stats", "Statistics"]]) {
    if (!available.includes(aggregate)) continue;
    const panel = await openTab(page, name);
    await expect(page.getByRole("tab", { name, exact: true })).toHaveAttribute("aria-selected", "true");
    await expect(panel).not.toBeEmpty();
  }
  await openTab(page, "Chapters");
  await watchSeeks(page);
  // The last chapter; the button after it, an icon, adds the chapter to a bin.
  await page.getByRole("tabpanel").getByRole("button").filter({ hasText: /\d/ }).last().click();
  const start = Number(new URL(page.url()).hash.match(/t=([\d.]+)/)[1]);
  await expectPlayingFrom(page, start);
});

test("an unknown aggregate is shown field by field, and its moments seek", async ({ page, service }) => {
  await openSample(page, service);
  const more = page.getByRole("tab", { name: "More", exact: true });
  await openTab(page, "Statistics");
  await expect(more).toHaveCount(0);

  const concluded = {
    darkest: { chunk_id: 1, start: 6.12, end: 13.2, percent: 18.456 },
    measured_by: "mean luma",
    also_dark: [{ chunk_id: 3, start: 18.2, end: 24.2, percent: 23, why: "a tunnel" }],
    by_hour: { "10": { frames: 5 } },
  };
  await page.route(/\/videos\/[0-9a-f]{16}\/aggregates$/, async (route) => {
    const response = await route.fetch();
    const { available, aggregates, ...rest } = await response.json();
    await route.fulfill({
      response,
      json: { ...rest, available: [...available, "dark_moments"], aggregates: { ...aggregates, dark_moments: concluded } },
    });
  });
  await page.reload();
  await more.click();
  const panel = page.getByRole("tabpanel", { name: "More" });
  await expect(panel.getByRole("heading")).toHaveText(["Dark moments"]);
  await expect(panel.locator("dt")).toHaveText(["Darkest", "Measured by", "Also dark", "By hour", "10", "Frames"]);
  await expect(panel).toContainText("mean luma");
  const moments = panel.getByRole("button");
  await expect(moments).toHaveText([/^0:06.*percent\s+18\.46$/s, /^0:18.*percent\s+23.*why\s+a tunnel$/s]);
  await expectAccessible(page, "an aggregate of the install's own");
  await watchSeeks(page);
  await moments.last().click();
  await expectPlayingFrom(page, 18.2);
});

test("the transcript is searched, and seeks", async ({ page, service }) => {
  await openSample(page, service);
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  const { chunks } = await (await fetch(`${service.url}/videos/${videos[0].video_id}/chunks`)).json();
  const turns = chunks.flatMap(({ diarization, transcript }) => diarization?.turns ?? transcript?.segments ?? []).filter(({ text }) => text.trim());
  const word = turns.findLast(({ start, text }) => start > 1 && /[a-z]{5}/.test(text)).text.match(/[a-z]{5,}/)[0];
  const turn = turns.find(({ text }) => text.toLowerCase().includes(word));
  await page.getByLabel("Find in transcript").fill(word);
  const found = turns.reduce((sum, { text }) => sum + text.toLowerCase().split(word).length - 1, 0);
  await expect(page.getByRole("search").getByRole("status")).toHaveText(new RegExp(`^${found} match`));
  const row = page.locator("#transcript .match");
  await expect(row.locator("mark").first()).toContainText(word, { ignoreCase: true });
  await watchSeeks(page);
  await row.getByRole("button", { name: /^Play from/ }).click();
  await expectPlayingFrom(page, turn.start);
});

test("the timeline seeks, follows and zooms", async ({ page, service }) => {
  await openSample(page, service);
  await expect(page.getByLabel("Lanes").getByText("Chapters")).toBeVisible();
  await expect(page.getByLabel("Lanes").getByText("Cuts")).toBeVisible();
  const canvas = page.getByRole("slider", { name: "Time" });
  const box = await canvas.boundingBox();
  await watchSeeks(page);
  const half = await page.evaluate(() => document.querySelector("video").duration / 2);
  await canvas.click({ position: { x: box.width / 2, y: 8 } });
  const [position] = await page.waitForFunction(() => window.seeks.length && window.seeks).then((seeks) => seeks.jsonValue());
  expect(position).toBeCloseTo(half, 0);
  // A paused player stays paused.
  expect(await page.evaluate(() => document.querySelector("video").paused)).toBe(true);
  await expect.poll(async () => Number(await canvas.getAttribute("aria-valuenow"))).toBeGreaterThanOrEqual(Math.floor(half));
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect(page.getByLabel("Visible part of the video")).toBeVisible();
  await page.getByRole("button", { name: "Fit" }).click();
  await expect(page.getByLabel("Visible part of the video")).toBeHidden();
});

test("the browser parses the captions and shows them on request", async ({ page, service }) => {
  await openSample(page, service);
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  const file = await (await fetch(`${service.url}/videos/${videos[0].video_id}/export?format=vtt`)).text();
  const timed = file.match(/-->/g)?.length ?? 0;
  expect(timed).toBeGreaterThan(0);
  const track = () => page.evaluate(() => {
    const [one] = document.querySelector("video").textTracks;
    return { mode: one.mode, cues: one.cues?.length ?? 0, text: one.cues?.[0]?.getCueAsHTML().textContent ?? "" };
  });
  await expect.poll(async () => (await track()).cues).toBe(timed);
  expect((await track()).text).not.toBe("");
  await page.getByRole("button", { name: "Captions" }).click();
  expect((await track()).mode).toBe("showing");
});

test("the log is exported in every format", async ({ page, service }) => {
  await openSample(page, service);
  await page.getByText("Export", { exact: true }).click();
  const links = page.getByRole("link", { name: /\(.+\)$/ });
  await expect(links.first()).toBeVisible();
  const addresses = await links.evaluateAll((all) => all.map((link) => link.href));
  expect(addresses).toHaveLength(19);
  for (const address of addresses) {
    const answer = await fetch(address);
    expect(answer.status, address).toBe(200);
    expect((await answer.text()).length, address).toBeGreaterThan(0);
  }
  await page.keyboard.press("Escape");
  await expect(links.first()).toBeHidden();
});

test("other weights preview another split without changing anything", async ({ page, service }) => {
  await openSample(page, service);
  await openTab(page, "Segmentation");
  await expect(page.getByLabel("Lanes").getByText("Split preview")).toBeVisible();
  const status = page.getByRole("tabpanel").locator("p[role=status]");
  const before = await status.textContent();
  await page.getByLabel("Min. length (s)").fill("20");
  await page.getByLabel("Max. length (s)").fill("60");
  await expect(status).not.toHaveText(before);
  await expect(status).toContainText(/^[12] moments?/);
  await page.getByRole("tab", { name: "Moments" }).click();
  await expect(page.getByLabel("Lanes").getByText("Split preview")).toBeHidden();
});

test("the inspector shows the analyzer outputs of a moment", async ({ page, service }) => {
  await openSample(page, service);
  await page.getByRole("button", { name: /^Show details of the moment at/ }).nth(1).click();
  const inspector = page.getByRole("region", { name: "Moment details" });
  await expect(inspector.getByRole("heading", { name: "Scenes" })).toBeVisible();
  await expect(inspector).toContainText("description");
  await inspector.getByRole("button", { name: "Next moment" }).click();
  await expect(inspector.getByRole("heading", { name: /^Moment 3/ })).toBeVisible();
  await inspector.getByRole("button", { name: "All moments" }).click();
  await expect(inspector).toBeHidden();
});

test("keyboard shortcuts play, seek, search and open help", async ({ page, service }) => {
  await openSample(page, service);
  await page.locator("#main").focus();
  const paused = () => page.evaluate(() => document.querySelector("video").paused);
  await page.keyboard.press(" ");
  await expect.poll(paused).toBe(false);
  await page.keyboard.press("k");
  await expect.poll(paused).toBe(true);
  const start = await currentTime(page);
  await page.keyboard.press("l");
  await expect.poll(() => currentTime(page)).toBeCloseTo(start + 10, 0);
  await page.keyboard.press("j");
  await expect.poll(() => currentTime(page)).toBeCloseTo(start, 0);
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => currentTime(page)).toBeCloseTo(start + 5, 0);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog").getByText("Play / pause")).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await expect(page.getByLabel("Search the footage")).toBeFocused();
});

test("a search result plays in place and links to its time in the video", async ({ page, service }) => {
  await page.goto(`${service.url}/#/search`);
  await page.getByLabel("Search the footage").fill("a dark street with lamps at night");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  const hits = page.locator("#hits .thumb");
  await expect(hits.first()).toBeVisible();
  await expect(page.getByRole("heading", { name: /^\d+ moments?$/ })).toBeVisible();
  await expect.poll(() => hits.first().locator("img").evaluate((image) => image.complete && image.naturalWidth > 0)).toBe(true);

  // The result is played from the sentence with the words, which is not at the start of its moment.
  const video = await hits.first().getAttribute("data-video");
  const { utterances } = await (await fetch(`${service.url}/videos/${video}/transcript`)).json();
  const sentence = utterances.find(({ text }) => text.includes("street lamps"));
  const starts = await hits.evaluateAll((all) => all.map((hit) => Number(hit.dataset.start)));
  const index = starts.indexOf(Math.max(...starts.filter((start) => start <= sentence.start)));
  expect(sentence.start - starts[index]).toBeGreaterThan(1);
  await hits.nth(index).click();
  await expectPlayerAt(page, sentence.start - 0.5);

  await page.getByRole("link", { name: "Open video" }).click();
  await expect(page.getByRole("heading", { name: "shotlog-sample.mp4" })).toBeVisible();
  await expectPlayerAt(page, starts[index]);
  const { hash } = new URL(page.url());
  await page.reload();
  await expectPlayerAt(page, starts[index]);
  expect(new URL(page.url()).hash).toBe(hash);
});

test("filters without results show a hint", async ({ page, service }) => {
  await page.goto(`${service.url}/#/search`);
  await page.getByLabel("Search the footage").fill("boat");
  await page.getByText("Filters", { exact: true }).click();
  await page.getByLabel("Minimum similarity (0–1)").fill("1");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect(page.getByText(/Try removing filters/)).toBeVisible();
});

test("an answer cites moments, and a citation plays", async ({ page, service }) => {
  await page.goto(`${service.url}/#/ask`);
  await page.getByLabel("Ask about the footage").fill("What happens in this film?");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const citation = page.locator("#answer .answer-text .cite").last();
  await expect(citation).toBeVisible({ timeout: 60_000 });
  await expect(page.locator("#answer")).not.toContainText(/\[[0-9a-f]{16} /);
  const start = Number(await citation.getAttribute("data-start"));
  await citation.click();
  await expectPlayerAt(page, start);
});

test("no request fails on any page", async ({ page, service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  const failed = [];
  page.on("requestfailed", (one) => {
    // A player aborts ranges that it no longer needs, and a page its pending requests when it is left.
    if (one.failure().errorText !== "net::ERR_ABORTED") failed.push(`${one.url()}: ${one.failure().errorText}`);
  });
  page.on("response", (one) => { if (one.status() >= 400) failed.push(`${one.url()}: ${one.status()}`); });
  for (const hash of ["#/", `#/videos/${videos[0].video_id}?t=5`, "#/search?q=boat", "#/ask?q=boat", "#/jobs"]) {
    await page.goto(`${service.url}/${hash}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");
  }
  expect(failed).toEqual([]);
});

// Colours depend on the scheme and layout on the width, so each value occurs once with every page.
for (const [width, scheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
  test(`pages fit and are accessible at ${width} px, ${scheme}`, async ({ page, service }) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    const { videos } = await (await fetch(`${service.url}/videos`)).json();
    await page.goto(service.url);
    await expect(tile(page)).toBeVisible();
    await expectAccessible(page, "library");
    await page.getByRole("button", { name: "From a URL" }).click();
    await page.getByText("Options", { exact: true }).click();
    await expectAccessible(page, "adding videos");
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: /^Delete / }).first().click();
    await expectAccessible(page, "deleting");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await expectAccessible(page, "help");
    await page.keyboard.press("Escape");
    await page.goto(`${service.url}/#/videos/${videos[0].video_id}`);
    await eachTab(page, (name) => expectAccessible(page, `video, ${name}`));
    await page.getByText("Export", { exact: true }).click();
    for (const [group, count] of [["Editing programs", 5], ["Documents", 6], ["Captions and chapters", 4], ["Data", 5]])
      await expect(page.getByRole("list", { name: group }).getByRole("link")).toHaveCount(count);
    // An open menu covers the content behind it.
    await expectAccessible(page, "export", "details[open]:has(summary.button)");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Refresh summary" }).click();
    await expectAccessible(page, "refresh summary");
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: "Moments" }).click();
    await page.getByRole("button", { name: /^Show details of the moment at/ }).first().click();
    await expect(page.getByRole("heading", { name: "Scenes" })).toBeVisible();
    // On a phone the player is sticky and covers part of the content.
    await page.evaluate(() => scrollTo(0, 0));
    await expectAccessible(page, "inspector");
    for (const [name, label, text] of [
      ["search", "Search the footage", "boat"], ["ask", "Ask about the footage", "What happens in this film?"],
    ]) {
      await page.goto(`${service.url}/#/${name}`);
      await page.getByLabel(label).fill(text);
      await page.locator("main form button.primary").click();
      await page.locator("#hits .thumb").first().click();
      await expectAccessible(page, name);
    }
    await page.goto(`${service.url}/#/jobs`);
    await expect(page.getByRole("listitem").first()).toBeVisible();
    await expectAccessible(page, "jobs");
  });
}

test("selected aggregates are recomputed", async ({ page, service }) => {
  await openSample(page, service);
  await page.getByRole("button", { name: "Refresh summary" }).click();
  const dialog = page.getByRole("dialog");
  for (const box of await dialog.getByRole("group", { name: "Refresh" }).getByRole("checkbox").all()) await box.uncheck();
  await dialog.getByLabel("Unusual moments").check();
  const answer = page.waitForResponse((one) => one.url().includes("/aggregates?force=true"));
  const shown = page.waitForResponse((one) => one.url().endsWith("/aggregates") && one.request().method() === "GET");
  await dialog.getByRole("button", { name: "Refresh summary" }).click();
  const { job_id: jobId } = await (await answer).json();
  await expect(dialog).toBeHidden();
  await expect.poll(async () => (await (await fetch(`${service.url}/jobs/${jobId}`)).json()).result?.ran).toEqual(["novelty"]);
  await shown;
});

test("a failed job can be retried from the jobs page", async ({ page, service }) => {
  const url = "http://127.0.0.1:9/gone.mp4";
  const form = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ url }) };
  const { job_id: jobId } = await (await fetch(`${service.url}/videos/url`, form)).json();
  await expect.poll(async () => (await (await fetch(`${service.url}/jobs/${jobId}`)).json()).status).toBe("failed");
  await page.goto(`${service.url}/#/jobs`);
  await page.getByRole("listitem").filter({ hasText: url }).getByRole("link", { name: "Try again" }).click();
  await expect(page.getByLabel("From a URL")).toHaveValue(url);
});

test("a video is deleted only after confirmation", async ({ page, service }) => {
  await openSample(page, service);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("shotlog-sample.mp4");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toBeHidden();

  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  expect((await (await fetch(`${service.url}/videos`)).json()).videos).toEqual([]);
});

// Expects that the player shows a frame at this time.
async function expectPlayerAt(page, seconds) {
  await expect.poll(() => page.evaluate((start) => {
    const video = document.querySelector("video");
    return video !== null && video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA
      && video.currentTime >= start - 0.1 && video.played.length + video.seekable.length > 0;
  }, seconds)).toBe(true);
  // Playback started there and not before.
  await expect.poll(() => page.evaluate(() => {
    const { played } = document.querySelector("video");
    return played.length ? played.start(played.length - 1) : null;
  })).toBeCloseTo(seconds, 0);
}
