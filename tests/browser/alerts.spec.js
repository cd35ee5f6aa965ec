// Alerts and their inbox, and renaming and deleting collections.
import { readFile } from "node:fs/promises";
import { expect, expectAccessible, test } from "./fixtures.js";
import { sample, startService } from "./service.js";

test.use({ settings: { environment: { SERVICE_CALLBACKS__SECRET: "only-for-this-test" } } });

const ID = "00c0ffee00c0ffee";
const HIT = { video_id: ID, chunk_id: 1, start: 30, end: 35, timecode: "", score: 0.6, p_present: 0.9, description: "A red boat.", objects: [], tags: [], turns: [] };
const ALERT = {
  name: "red-boat", text: "a red boat", mode: null, analyzer: "*", field: "combined", filters: { objects: { all: ["boat", "buoy"] } }, score_threshold: null,
  min_p_present: 0.5, limit: 5, webhook: "https://example.org/hook", created_at: "2026-01-01T00:00:00Z", delivered: 3, last_delivered_at: "2026-01-02T12:00:00Z",
  failed: [{ event_id: "e1", video_id: ID, error: "the webhook answered 500", at: "2026-01-03T12:00:00Z" }], matches: 7, unread: 2,
};
const json = (page, path, answer) => page.route((url) => url.pathname === path, (route) => {
  const body = answer(route.request());
  return body === undefined ? route.fallback() : route.fulfill({ json: body });
});
const alerts = async (service) => (await (await fetch(`${service.url}/alerts`)).json()).alerts;

test("an alert is created from a search, tested and deleted by keyboard", async ({ page, service }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(`${service.url}/#/search?q=A+red+boat&filter.objects=boat&sure=0.7`);
  const create = page.getByRole("button", { name: "Create alert" });
  await create.press("Enter");
  const dialog = page.getByRole("dialog", { name: "New alert" });
  await expect(dialog.getByLabel("Alert name")).toHaveValue("a-red-boat");
  await expect(dialog.getByLabel("Minimum confidence (0–1)")).toHaveValue("0.7");
  await expect(dialog).toContainText("Objects: boat");
  await expectAccessible(page, "the dialog of a new alert");
  await page.screenshot({ path: test.info().outputPath("new.png") });

  await expect(dialog.getByLabel("Webhook URL")).toBeHidden();
  await dialog.getByText("More", { exact: true }).press("Enter");
  await expectAccessible(page, "the dialog of a new alert with all fields");
  const address = dialog.getByLabel("Webhook URL");
  await address.fill("https://example.org/hook");
  await address.press("Enter");
  await expect(dialog).toBeHidden();
  await expect(page.getByText("Alert “a-red-boat” created.")).toBeVisible();
  expect(await alerts(service)).toMatchObject([
    { name: "a-red-boat", text: "A red boat", analyzer: "*", filters: { objects: ["boat"] }, min_p_present: 0.7, webhook: "https://example.org/hook" },
  ]);

  await create.press("Enter");
  await expect(dialog).toContainText("An alert with this name already exists");
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Alerts" }).press("Enter");
  await expect(page).toHaveTitle("Alerts · Shotlog");
  await expect(page.getByRole("heading", { name: "No matches yet" })).toBeVisible();
  await page.getByRole("link", { name: "Saved alerts" }).press("Enter");
  const alert = page.getByRole("region", { name: "a-red-boat" });
  await expect(alert).toContainText("never");
  await alert.getByRole("button", { name: "Test" }).press("Enter");
  await expect(alert.getByRole("heading", { name: "Nothing in the existing videos would match" })).toBeVisible();
  await expectAccessible(page, "an alert");
  await alert.getByRole("link", { name: "“A red boat”" }).press("Enter");
  await expect(page).toHaveURL(/#\/search\?q=A\+red\+boat&sure=0.7&filter.objects=boat$/);
  await page.goBack();

  await alert.getByRole("button", { name: "Delete…" }).press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
  await expect(page.getByRole("heading", { name: "No alerts yet" })).toBeVisible();
  expect(await alerts(service)).toEqual([]);
  await expectAccessible(page, "no alerts");
});

test("an alert is edited, paused and resumed", async ({ page, service }) => {
  const alert = { text: "a boat", filters: { objects: ["boat"] }, min_p_present: 0.7, webhook: "https://example.org/hook?key=secret" };
  const put = { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(alert) };
  expect((await fetch(`${service.url}/alerts/boats`, put)).status).toBe(200);
  await page.goto(`${service.url}/#/alerts?tab=saved`);
  const boats = page.getByRole("region", { name: "boats" });
  await expect(boats.getByText("On", { exact: true })).toBeVisible();
  await boats.getByRole("button", { name: "Pause" }).press("Enter");
  await expect(boats.getByText("Paused", { exact: true })).toBeVisible();
  await expect(boats).toContainText("Finds nothing until it is resumed");
  // The message leaves the main menu free.
  const message = await page.locator(".toast").boundingBox();
  const menu = await page.getByRole("banner").boundingBox();
  expect(message.y).toBeGreaterThanOrEqual(menu.y + menu.height);
  expect(await alerts(service)).toMatchObject([{ paused: true }]);
  await page.getByRole("link", { name: "Inbox" }).press("Enter");
  await expect(page.getByText("Paused, so nothing new is found: boats.")).toBeVisible();
  await expectAccessible(page, "the inbox of a paused alert");
  await page.goBack();

  await boats.getByRole("button", { name: "Edit…" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Edit alert “boats”" });
  await expect(dialog).toContainText("Objects: boat");
  await expect(dialog.getByLabel("Minimum confidence (0–1)")).toHaveValue("0.7");
  await dialog.getByLabel("What to search for").fill("a red ship");
  await dialog.getByLabel("Minimum confidence (0–1)").fill("0.25");
  await dialog.getByLabel("Alert name").fill("ships");
  await dialog.getByText("More", { exact: true }).press("Enter");
  await dialog.getByRole("button", { name: "Speech", exact: true }).press("Enter");
  await expectAccessible(page, "the dialog of an alert that is edited");
  await page.screenshot({ path: test.info().outputPath("edit.png") });
  await dialog.getByRole("button", { name: "Save" }).press("Enter");
  await expect(dialog).toBeHidden();
  const ships = page.getByRole("region", { name: "ships" });
  await expect(ships).toContainText("min. confidence 0.25");
  expect(await alerts(service)).toMatchObject([
    { name: "ships", text: "a red ship", paused: true, min_p_present: 0.25, filters: { objects: ["boat"] }, webhook: "https://example.org/hook?key=REDACTED" },
  ]);
  expect((await alerts(service))[0].filters.where).toBeTruthy();
  await ships.getByRole("button", { name: "Resume" }).press("Enter");
  await expect(ships.getByRole("button", { name: "Pause" })).toBeVisible();
  expect(await alerts(service)).toMatchObject([{ paused: false }]);
  await fetch(`${service.url}/alerts/ships`, { method: "DELETE" });
});

test("filters alone make an alert, whose dialog counts what would match", async ({ page, service }) => {
  const moments = (...all) => all.map((p_present, index) => ({ ...HIT, p_present, chunk_id: index, start: 5 * index, end: 5 * index + 5 }));
  await json(page, "/query", (request) => {
    const { text } = request.postDataJSON();
    return { query: text ?? "", results: text ? moments(0.9, 0.6, 0.3) : moments(undefined, undefined) };
  });
  await page.goto(`${service.url}/#/search?filter.collections=harbour`);
  await page.getByRole("button", { name: "Create alert" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "New alert" });
  await expect(dialog).toContainText("Matches in the present library: 2 moments.");
  await expect(dialog.getByLabel("Minimum confidence (0–1)")).toHaveCount(0);
  await dialog.getByLabel("What to search for").fill("a boat");
  await expect(dialog).toContainText("Matches in the present library: 2 moments.");
  await dialog.getByLabel("Minimum confidence (0–1)").fill("0.2");
  await expect(dialog).toContainText("Matches in the present library: 3 moments.");
  await dialog.getByLabel("What to search for").fill("");
  await dialog.getByLabel("Alert name").fill("harbour");
  await dialog.getByLabel("Alert name").press("Enter");
  await expect(dialog).toBeHidden();
  expect(await alerts(service)).toMatchObject([{ name: "harbour", text: "", filters: { collections: ["harbour"] } }]);
});

for (const [width, colorScheme, locale] of [[360, "dark", "de-DE"], [1280, "light", "en-US"], [1920, "dark", "en-US"]]) {
  test.describe(`at ${width} px, ${colorScheme}, ${locale}`, () => {
    test.use({ viewport: { width, height: 900 }, colorScheme, locale, contextOptions: { reducedMotion: "reduce" } });

    test("an alert shows delivered and failed messages, and what a test matches", async ({ page, service }) => {
      let failed = ALERT.failed;
      const posted = [];
      await json(page, "/alerts", () => ({ alerts: [{ ...ALERT, failed }] }));
      await json(page, "/alerts/red-boat/test", () => ({ results: [HIT] }));
      await json(page, "/alerts/red-boat/retry", (request) => {
        posted.push(request.method());
        return { job_ids: ["1".repeat(32)] };
      });
      await json(page, `/videos/${ID}`, () => ({ video_id: ID, filename: "harbour.mp4" }));
      let jobs = [];
      await json(page, "/jobs", () => ({ jobs, total: jobs.length }));
      const german = locale === "de-DE";
      const words = german
        ? { saved: "Gespeicherte Benachrichtigungen", matches: "7 Treffer", missed: "1 Nachricht nicht zugestellt", retry: "Fehlgeschlagene erneut senden", test: "Testen", delivered: "3 Mal, zuletzt am" }
        : { saved: "Saved alerts", matches: "7 matches", missed: "1 message not delivered", retry: "Retry failed", test: "Test", delivered: "3 times, last on" };
      await page.goto(`${service.url}/#/settings`);
      await page.getByRole("heading", { name: german ? "Benachrichtigungen" : "Alerts" }).getByRole("link").click();
      await page.getByRole("link", { name: words.saved }).click();
      const alert = page.getByRole("region", { name: "red-boat" });
      await expect(alert.getByRole("link", { name: words.matches })).toHaveAttribute("href", "#/alerts?alert=red-boat&verdict=all");
      await expect(alert).toContainText(words.delivered);
      await expect(alert).toContainText("boat, buoy");
      await alert.getByText(words.missed).click();
      await expect(alert).toContainText("The webhook answered 500");
      await expect(alert.getByRole("link", { name: "harbour.mp4" })).toHaveAttribute("href", `#/videos/${ID}`);

      await alert.getByRole("button", { name: words.test }).click();
      await expect(alert.locator(".hits")).toContainText("A red boat.");
      await expectAccessible(page, `alerts ${width} ${colorScheme}`);
      await page.screenshot({ path: test.info().outputPath("alerts.png"), fullPage: true });

      // The failure disappears with the job that retries it.
      await alert.getByRole("button", { name: words.retry }).click();
      await expect.poll(() => posted).toEqual(["POST"]);
      failed = [];
      jobs = [{ job_id: "1".repeat(32), source: "harbour.mp4", status: "done", stage: "complete", detail: {}, result: null, error: null, created_at: "", updated_at: "" }];
      await expect(alert.getByRole("button", { name: words.retry })).toHaveCount(0);
      await expect(alert.getByText(words.missed)).toHaveCount(0);
    });
  });
}

test("a token without access to alerts sees why", async ({ browser }) => {
  const tokens = '["all-of-it", { token = "a-part-of-it", collections = ["street"] }]';
  const service = await startService({ environment: { SERVICE_AUTH__TOKENS: tokens, SERVICE_CALLBACKS__SECRET: "only-for-this-test" } });
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${service.url}/#/alerts`);
    await page.getByLabel("Access token").fill("a-part-of-it");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByText("You do not have access to alerts")).toBeVisible();
    await expectAccessible(page, "alerts that are not shown");
    await page.goto(`${service.url}/#/search?q=boat`);
    await page.getByRole("button", { name: "Create alert" }).click();
    await expect(page.getByRole("dialog")).toContainText("You do not have access to alerts");
    await expect(page.getByRole("dialog").getByRole("textbox")).toHaveCount(0);
    await page.keyboard.press("Escape");
  } finally {
    await context.close();
    await service.stop();
  }
});

test("without callbacks, an alert has no webhook", async ({ browser }) => {
  const service = await startService();
  const context = await browser.newContext();
  try {
    const here = await context.newPage();
    await here.goto(`${service.url}/#/search?q=boat`);
    await here.getByRole("button", { name: "Create alert" }).click();
    const dialog = here.getByRole("dialog", { name: "New alert" });
    await dialog.getByText("More", { exact: true }).click();
    await expect(dialog.getByLabel("Minimum confidence (0–1)")).toBeVisible();
    await expect(dialog.getByLabel("Webhook URL")).toHaveCount(0);
    await dialog.getByRole("button", { name: "Create alert" }).click();
    await expect(dialog).toBeHidden();
    expect(await alerts(service)).toMatchObject([{ name: "boat", webhook: null }]);
  } finally {
    await context.close();
    await service.stop();
  }
});

async function ingest(url) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ analyzers: "default_video", mode: "interval", interval: "5" })) form.append(name, value);
  form.append("file", new Blob([await readFile(sample)], { type: "video/mp4" }), "shotlog-sample.mp4");
  await fetch(`${url}/videos`, { method: "POST", body: form });
  await expect.poll(async () => (await (await fetch(`${url}/inbox`)).json()).unread, { timeout: 120_000 }).toBeGreaterThan(1);
  return (await (await fetch(`${url}/inbox`)).json()).unread;
}

test("an alert without a webhook fills the inbox, and matches are read", async ({ browser }) => {
  test.slow();
  const service = await startService();
  const context = await browser.newContext({ viewport: { width: 360, height: 800 }, colorScheme: "light" });
  try {
    const page = await context.newPage();
    await page.goto(`${service.url}/#/search?q=a+harbour&sure=0`);
    await page.getByRole("button", { name: "Create alert" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "New alert" });
    await dialog.getByLabel("Alert name").fill("harbour");
    await dialog.getByLabel("Alert name").press("Enter");
    await expect(dialog).toBeHidden();

    const found = await ingest(service.url);
    // The number is loaded when the job ends.
    const bell = page.getByRole("banner").getByRole("link", { name: `Alerts, ${found} unread` });
    await expect(bell).toBeVisible({ timeout: 30_000 });
    await bell.press("Enter");
    const rows = page.getByRole("main").locator("ol > li");
    await expect(rows).toHaveCount(found);
    await expect(rows.getByText("Unread", { exact: true })).toHaveCount(found);
    await expect(rows.first()).toContainText("shotlog-sample.mp4");
    await expect(rows.first().getByRole("link", { name: "harbour", exact: true })).toBeVisible();
    await expectAccessible(page, "the inbox");
    await page.screenshot({ path: test.info().outputPath("inbox-360.png"), fullPage: true });

    // Playing a match marks it as read.
    await rows.first().getByRole("button", { name: "Play shotlog-sample.mp4" }).press("Enter");
    await expect(page.locator("video")).toBeVisible();
    await expect(rows.getByText("Unread", { exact: true })).toHaveCount(found - 1);
    await expect(page.getByRole("banner").getByRole("link", { name: /^Alerts/ })).toHaveAccessibleName(found > 2 ? `Alerts, ${found - 1} unread` : "Alerts, 1 unread");
    await page.reload();
    await expect(rows.getByText("Unread", { exact: true })).toHaveCount(found - 1);
    await page.getByLabel("Unread only").check();
    await expect(rows).toHaveCount(found - 1);
    await expect(page).toHaveURL(/unread=1$/);

    // Opening the video does, too.
    await rows.first().getByRole("link", { name: "shotlog-sample.mp4" }).click();
    await expect(page).toHaveURL(/#\/videos\/[0-9a-f]{16}\?t=/);
    await expect.poll(async () => (await (await fetch(`${service.url}/inbox`)).json()).unread).toBe(found - 2);
    await page.setViewportSize({ width: 1920, height: 900 });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto(`${service.url}/#/alerts`);
    await expect(rows).toHaveCount(found);
    await expectAccessible(page, "the inbox on a wide, dark page");
    await page.screenshot({ path: test.info().outputPath("inbox-1920.png") });
    if (found > 2) await page.getByRole("button", { name: "Mark all as read" }).press("Enter");
    await expect(rows.getByText("Unread", { exact: true })).toHaveCount(0);
    await expect(page.getByRole("banner").getByRole("link", { name: "Alerts", exact: true })).toBeVisible();
    await rows.first().getByRole("button", { name: "Mark as unread" }).press("Enter");
    await expect(rows.getByText("Unread", { exact: true })).toHaveCount(1);
    await rows.first().getByRole("button", { name: "Mark as read" }).press("Enter");
    await expect(rows.getByText("Unread", { exact: true })).toHaveCount(0);
    expect((await (await fetch(`${service.url}/inbox`)).json()).unread).toBe(0);
    await page.getByLabel("Unread only").check();
    await expect(page.getByRole("heading", { name: "No unread matches" })).toBeVisible();
    await page.getByLabel("Unread only").uncheck();

    // A match is judged, with a reason; the judgement can be undone.
    const stored = async () => (await (await fetch(`${service.url}/inbox`)).json()).matches.map(({ verdict, note }) => [verdict, note]);
    const row = (index) => rows.nth(index);
    await row(0).getByRole("button", { name: "Mark as unread" }).click();
    await row(0).getByRole("button", { name: "False alarm" }).press("Enter");
    await expect(row(0).getByLabel("Reason (optional)")).toBeFocused();
    await expect(row(0).getByText("Unread", { exact: true })).toHaveCount(0);
    await page.keyboard.type("A buoy");
    await page.keyboard.press("Enter");
    await expect(row(0).getByRole("status")).toContainText(/^False alarm\. A buoy without a name, /);
    await expect(row(0).getByLabel("Reason (optional)")).toHaveCount(0);
    await row(1).getByRole("button", { name: "Confirm" }).click();
    await row(1).getByLabel("Your name (optional)").fill("Ada");
    await row(1).getByLabel("Your name (optional)").blur();
    await expect(row(1).getByRole("status")).toContainText(/^Confirmed\. +Ada, /);
    await expectAccessible(page, "judged matches");
    await page.screenshot({ path: test.info().outputPath("judged-1920.png") });
    expect((await stored()).slice(0, 2)).toEqual([["false_alarm", "A buoy"], ["confirmed", undefined]]);
    // The inbox opens without false alarms.
    await page.reload();
    await expect(page.getByLabel("State")).toHaveValue("");
    await expect(rows).toHaveCount(found - 1);
    await expect(rows.getByText("A buoy")).toHaveCount(0);
    await page.getByLabel("State").selectOption("All");
    await expect(rows).toHaveCount(found);
    await page.getByLabel("State").selectOption("confirmed");
    await expect(rows).toHaveCount(1);
    await expect(page).toHaveURL(/verdict=confirmed$/);
    await row(0).getByRole("button", { name: "Undo" }).click();
    await expect(row(0).getByRole("button", { name: "Confirm" })).toBeVisible();
    await page.reload();
    await expect(page.getByRole("heading", { name: "No matches in this state" })).toBeVisible();
    await page.getByLabel("State").selectOption("open");
    await expect(rows).toHaveCount(found - 1);
    await page.getByRole("link", { name: "Saved alerts" }).click();
    await page.getByRole("link", { name: "1 false alarm" }).click();
    await expect(rows).toHaveCount(1);
    await expect(row(0)).toContainText("A buoy");
  } finally {
    await context.close();
    await service.stop();
  }
});

test("a collection is renamed, and deleted with or without its videos", async ({ page, service }) => {
  const videos = (place) => [ID, "feedfacefeedface"].map((video_id, index) => ({
    video_id, filename: `${index}.mp4`, duration: 30, chunks: 3, analyzers: ["default_video"], collection: index ? "market" : place,
  }));
  let place = "harbour";
  let jobs = [];
  const requests = [];
  const job = (status) => ({
    job_id: "2".repeat(32), source: place, status, stage: status === "done" ? "complete" : "changing", detail: {}, error: null, created_at: "2026-01-31T12:00:00Z",
    updated_at: "2026-01-31T12:01:00Z", result: status === "done" ? { collection: "harbour", videos: 1 } : null,
  });
  await json(page, "/videos", () => ({ videos: videos(place), total: 2 }));
  await json(page, "/jobs", () => ({ jobs, total: jobs.length }));
  await page.route((url) => url.pathname.startsWith("/collections/"), (route) => {
    const url = new URL(route.request().url());
    requests.push([route.request().method(), url.pathname + url.search, route.request().postDataJSON()]);
    jobs = [job("queued")];
    return route.fulfill({ status: 202, json: { job_id: "2".repeat(32), status: "queued", collection: place } });
  });
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(service.url);
  await page.getByLabel("Collection", { exact: true }).selectOption("harbour");
  await expect(page.getByRole("link", { name: "Search in this collection" })).toHaveAttribute("href", "#/search?filter.collections=harbour");
  await page.getByRole("button", { name: "Rename “harbour”…" }).press("Enter");
  const dialog = page.getByRole("dialog");
  const name = dialog.getByLabel("New name");
  await expect(dialog.getByRole("button", { name: "Rename" })).toBeDisabled();
  await name.fill("market");
  await expect(dialog).toContainText("The collection “market” already exists");
  await expectAccessible(page, "renaming a collection");
  await name.fill("port / west");
  await name.press("Enter");
  await expect(dialog).toBeHidden();
  expect(requests).toEqual([["PATCH", "/collections/harbour", { name: "port / west" }]]);
  // The page shows the new name when the job is done.
  place = "port / west";
  jobs = [job("done")];
  await page.getByRole("button", { name: "Delete “port / west”…" }).press("Enter");
  await expect(dialog.getByLabel("Keep in the library, in no collection")).toBeChecked();
  await expectAccessible(page, "deleting a collection");
  await page.screenshot({ path: test.info().outputPath("delete.png") });
  await dialog.getByLabel("Delete with all results").check();
  await dialog.getByRole("button", { name: "Delete" }).press("Enter");
  await expect(dialog).toBeHidden();
  expect(requests.at(-1)).toEqual(["DELETE", "/collections/port%20%2F%20west?videos=delete", null]);
});
