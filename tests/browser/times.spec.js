// Exact times: the spans in which the conditions of a search hold.
import { readFile } from "node:fs/promises";
import { deleteBins, selectsOf, toast } from "./bins.js";
import { expect, expectAccessible, test } from "./fixtures.js";
import { addVideo } from "./service.js";
import { spokenVideo } from "./spoken-video.js";

const ID = "00c0ffee00c0ffee";
const json = (page, path, answer) => page.route((url) => url.pathname === path, (route) => route.fulfill({ json: answer(route.request()) }));
const proof = (term, found, absent = false) => ({ term, absent, moments: [{ moment_id: "", start: 0, end: 1, ...found }] });
const span = (start, end, ...proofs) => ({ moment_id: "", start, end, timecode: "", proofs });
const video = (spans, video_id = ID, filename = "harbour.mp4") => ({ video_id, filename, video_url: "", duration: 60, spans });
const none = { expression: {}, videos: [], not_analyzed: {}, unknown_videos: [], truncated_texts: [] };
const link = (expression, more = "") => `#/search?times=1&where=${encodeURIComponent(JSON.stringify(expression))}${more}`;
const sections = (page) => page.getByRole("region").filter({ has: page.getByRole("table") });
const rows = (page) => page.getByRole("row").filter({ has: page.getByRole("button") });

/** Answers with pages of times, by the cursor, and records the requests. */
async function mockTimes(page, pages) {
  const sent = [];
  await json(page, "/intervals", (request) => {
    const body = request.postDataJSON();
    sent.push(body);
    return { ...none, ...pages[body.cursor ?? ""] };
  });
  await json(page, `/videos/${ID}`, () => ({ video_id: ID, filename: "harbour.mp4" }));
  return sent;
}
const saved = async (download) => readFile(await (await download).path(), "utf8");

test("a search for words leads to the times at which they are said or on screen", async ({ page, service }) => {
  const ferry = { any: [{ says: "ferry" }, { reads: "ferry" }] };
  const sent = await mockTimes(page, {
    "": {
      videos: [video([span(65.25, 66, proof({ says: "ferry" }, { text: "ferry" })), span(70, 82.5, proof({ reads: "ferry" }, { text: "FERRY, DELAYED" }))])],
      not_analyzed: { ocr: { videos: 2, video_ids: [ID, "feedfacefeedface"], parts: [] } },
    },
  });
  await json(page, "/query", () => ({ answer: null, results: [] }));
  await page.goto(`${service.url}/#/search?q=ferry`);
  await page.getByRole("link", { name: "Times at which “ferry” is said or on screen" }).click();
  await expect(page).toHaveURL(/q=ferry&times=1$/);
  await expect(page.getByRole("heading", { name: "2 times in 1 video, 0:13.3 in all" })).toBeVisible();
  expect(sent).toEqual([{ expression: ferry, video_ids: null, filters: {}, limit: 100, cursor: null }]);
  await expect(page.getByRole("button", { name: "Exact times" })).toHaveAttribute("aria-pressed", "true");
  await expect(rows(page)).toHaveText([/1:05\.25\s*1:06\s*0\.75 s\s*says “ferry”$/, /1:10\s*1:22\.5\s*12\.5 s\s*“ferry” on screen: FERRY, DELAYED$/]);
  await expect(page.getByText("2 videos not analysed for “On-screen text”, or not in full:")).toContainText("harbour.mp4");

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  expect((await saved(download)).replace("\ufeff", "").split("\r\n")).toEqual([
    "Video,Start (s),End (s),Length (s),Shown by",
    "harbour.mp4,65.25,66,0.75,says “ferry”",
    'harbour.mp4,70,82.5,12.5,"“ferry” on screen: FERRY, DELAYED"',
  ]);
  await expect(toast(page)).toContainText("2 times downloaded.");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await expect(toast(page)).toContainText("2 times copied.");
  expect((await page.evaluate(() => navigator.clipboard.readText())).split("\n")[0]).toBe("harbour.mp4\t1:05.25\t1:06\t0:00.75\tsays “ferry”");
  expect(sent).toHaveLength(1);

  // Moments and exact times share the search.
  await page.getByRole("button", { name: "Moments", exact: true }).click();
  await expect(page).toHaveURL(/#\/search\?q=ferry$/);
  await expect(page.getByText("No results for “ferry”.")).toBeVisible();
});

test("the conditions of the page find times, page by page", async ({ page, service }) => {
  const nobody = { not: { people: true } };
  const count = 3;
  const sent = await mockTimes(page, {
    "": { next: "2" },
    2: { next: "3", videos: [video([span(0, 20, proof({ people: { at_least: 1 } }, {}, true))])] },
    3: { next: "4", videos: [video([span(30, 31.5)])] },
    4: { videos: [video([span(5, 6)], "feedfacefeedface", "quay.mp4")] },
  });
  await page.goto(`${service.url}/#/search?times=1`);
  await expect(page.getByText("Choose a condition, or enter words")).toBeVisible();
  await page.getByRole("button", { name: "No people", exact: true }).click();
  // An empty page is followed by the next one.
  await expect(page.getByRole("heading", { name: "First 1 time in 1 video, 0:20 in all" })).toBeVisible();
  await expect(rows(page)).toContainText(["no people"]);
  expect(sent.map(({ expression, cursor }) => [expression, cursor])).toEqual([[nobody, null], [nobody, "2"]]);
  await page.getByRole("button", { name: "Load more" }).click();
  await expect(rows(page)).toHaveCount(2);
  await expect(sections(page)).toHaveCount(1);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  expect((await saved(download)).split("\r\n")).toHaveLength(count + 1);
  expect(sent).toHaveLength(4);

  // A changed condition does not change the list before it is applied.
  await page.getByRole("button", { name: "No speech", exact: true }).click();
  await expect(page.getByText("The conditions have changed")).toBeVisible();
  await page.getByRole("button", { name: "Update the list" }).click();
  await expect.poll(() => sent.at(-1).expression).toEqual({ all: [nobody, { not: { speech: true } }] });
  await page.reload();
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByText(/^no people · no speech · /)).toBeVisible();
});

test("what is not found is said, and where it was looked for", async ({ page, service }) => {
  await mockTimes(page, { "": { unknown_videos: ["feedfacefeedface"] } });
  await page.goto(`${service.url}/${link({ all: [{ sees: "car" }, { not: { speech: true } }] }, `&video=${ID}&filter.min_people=2`)}`);
  await expect(page.getByRole("heading", { name: "At no time" })).toBeVisible();
  await expect(page.getByText("with car · no speech · 1 video searched")).toBeVisible();
  await expect(page.getByText("These filters do not apply to exact times: Min. people.")).toBeVisible();
  await expect(page.getByText("Video not found: feedfacefeedface.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Download CSV" })).toHaveCount(0);
});

test("videos without a picture or sound are named, and several words are one phrase", async ({ page, service }) => {
  const listed = (video_id, filename, more) => ({ video_id, filename, video_url: "", poster_url: null, duration: 60, chunks: 1, chunk_config: "", analyzers: [], ...more });
  const videos = [listed(ID, "harbour.wav"), listed("feedfacefeedface", "quay.mp4", { poster_url: "/storage/none.jpg", has_sound: false })];
  await mockTimes(page, { "": { not_analyzed: { ocr: { videos: 1, video_ids: [ID], parts: [] } } } });
  await json(page, "/videos", () => ({ videos, total: 2 }));
  await page.goto(`${service.url}/${link({ reads: "web tickets" })}`);
  await expect(page.getByText("· 1 video searched")).toBeVisible();
  await expect(page.getByText("No picture:")).toContainText("harbour.wav");
  await expect(page.getByText(/No sound:|not analysed/)).toHaveCount(0);

  await page.goto(`${service.url}/#/search?q=web+tickets&times=1`);
  await expect(page.getByText("“web tickets” said or on screen, as one phrase, in this order · 2 videos searched")).toBeVisible();
  await expect(page.getByText("No sound:")).toContainText("quay.mp4");
  await expect(page.getByText("Single words:").getByRole("link")).toHaveText(["web", "tickets"]);
  await page.getByRole("link", { name: "tickets", exact: true }).click();
  await expect(page).toHaveURL(/#\/search\?q=tickets&times=1$/);
  await expect(page.getByText("Single words:")).toHaveCount(0);
});

test("the words that are looked for in a transcript have their times in this video", async ({ page, service }) => {
  const { id } = await spokenVideo(page);
  await page.goto(`${service.url}/#/videos/${id}`);
  await page.getByLabel("Find in transcript").fill("web tickets");
  const times = page.getByRole("link", { name: "Times at which “web tickets” is said or on screen" });
  await expect(times).toHaveAttribute("href", `#/search?q=web+tickets&video=${id}&times=1`);
});

for (const [width, colorScheme] of [[400, "dark"], [1280, "light"]]) {
  test(`exact times are accessible at ${width} px, ${colorScheme}`, async ({ page, service }, testInfo) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const long = "a line on screen that is longer than the window of a phone is wide";
    await mockTimes(page, {
      "": {
        next: "2",
        videos: [video([span(3605.25, 3666, proof({ reads: "line" }, { text: long })), span(3700, 3700.001, proof({ sees: "car" }, { label: "car" }))])],
        not_analyzed: { people: { videos: 1, video_ids: [ID], parts: [] } },
      },
    });
    await page.goto(`${service.url}/${link({ reads: "line" })}`);
    await expect(rows(page)).toHaveCount(2);
    await expectAccessible(page, `exact times at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`times-${width}.png`), fullPage: true });
  });
}

test.describe("of a video", () => {
  let id;
  test.beforeAll(async ({ service }) => { id = await addVideo(service.url, { analyzers: "diarization", mode: "interval", interval: "10" }); });
  // Other spec files share the service and expect it to be empty.
  test.afterAll(async ({ service }) => {
    await fetch(`${service.url}/videos/${id}`, { method: "DELETE" });
    await deleteBins(service);
  });

  test("times are those of the service, are played and are added to a bin at once", async ({ page, service }) => {
    const expression = { speech: true };
    const body = JSON.stringify({ expression, limit: 500 });
    const { videos } = await (await fetch(`${service.url}/intervals`, { method: "POST", headers: { "Content-Type": "application/json" }, body })).json();
    const { spans } = videos[0];
    expect(spans.length).toBeGreaterThan(1);
    await page.goto(`${service.url}/${link(expression)}`);
    await expect(rows(page)).toHaveCount(spans.length);
    await expect(page.getByText("1 video searched")).toBeVisible();
    await rows(page).first().getByRole("button").click();
    await expect.poll(() => page.evaluate(() => document.querySelector("video")?.currentTime ?? -1)).toBeGreaterThanOrEqual(spans[0].start);
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await expect(page.locator("video")).toHaveCount(0);

    await page.getByRole("button", { name: `Add ${spans.length} times to bin` }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("New bin").fill("Speech");
    await dialog.getByRole("button", { name: "Create" }).click();
    await expect(toast(page)).toContainText("Added to “Speech”.");
    const { bins } = await (await fetch(`${service.url}/bins`)).json();
    const { bin_id: bin } = bins.find(({ name }) => name === "Speech");
    expect((await selectsOf(service, bin)).map(({ start }) => start)).toEqual(spans.map(({ start }) => start));
    await toast(page).getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => selectsOf(service, bin)).toEqual([]);
    await page.getByRole("region", { name: "shotlog-sample.mp4" }).getByRole("link").click();
    await expect(page.getByRole("group", { name: "Search results" })).toContainText(`of ${spans.length}`);
  });

  test("nobody in view is not known where people were not looked for", async ({ page, service }) => {
    await page.goto(`${service.url}/${link({ not: { people: true } })}`);
    await expect(page.getByRole("heading", { name: "At no time" })).toBeVisible();
    const notice = page.getByText("1 video not analysed for “People”, or not in full:");
    await notice.getByRole("link", { name: "shotlog-sample.mp4" }).click();
    // The video says what can be done.
    await expect(page.getByRole("tabpanel")).toContainText("This video has not been analysed for people.");
    await page.getByRole("tabpanel").getByRole("button", { name: "Analyse for people" }).click();
    await expect(page.getByRole("dialog").getByLabel("People")).toBeChecked();
    await expect(page.getByRole("dialog").getByLabel("Speech by speaker")).toBeChecked();
  });
});
