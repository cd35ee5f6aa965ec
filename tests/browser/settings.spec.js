// Settings of the browser: appearance, language and time format.
import { de } from "../../ui/src/i18n/de";
import { en } from "../../ui/src/i18n/en";
import { expect, eachTab, expectAccessible, openHitMenu, test } from "./fixtures.js";
import { longVideo } from "./long-video.js";

const scheme = (page) => page.evaluate(() => document.documentElement.dataset.scheme);
const settings = (service) => `${service.url}/#/settings`;

test("the appearance follows the system or the choice, which is saved", async ({ page, service }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(service.url);
  await page.getByRole("link", { name: "Settings" }).click();
  await expect(page).toHaveTitle("Settings · Shotlog");
  await expect(page.getByRole("radio", { name: "Match system" })).toBeChecked();
  expect(await scheme(page)).toBe("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(() => scheme(page)).toBe("light");

  await page.getByRole("radio", { name: "Dark" }).check();
  expect(await scheme(page)).toBe("dark");
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(await back()).toBe("rgb(15, 17, 20)");
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("dark");
  // It is set before the page's script runs, so nothing flashes.
  await page.route("**/app.js", (one) => one.abort());
  await page.reload();
  expect(await scheme(page)).toBe("dark");
  expect(await back()).toBe("rgb(15, 17, 20)");
  await page.unrouteAll();
  await page.reload();
  await expect(page.getByRole("radio", { name: "Dark" })).toBeChecked();
});

test("the language matches the browser until one is chosen, which is saved", async ({ browser, service }) => {
  const context = await browser.newContext({ locale: "de-AT" });
  const page = await context.newPage();
  const german = page.waitForResponse((answer) => answer.url().endsWith("/de.js"));
  await page.goto(service.url);
  await german;
  await expect(page.getByRole("link", { name: "Mediathek", exact: true })).toBeVisible();
  await expect(page).toHaveTitle("Mediathek · Shotlog");
  expect(await page.evaluate(() => document.documentElement.lang)).toBe("de");

  await page.goto(settings(service));
  const language = page.getByLabel("Sprache");
  await expect(language).toHaveValue("");
  await expect(language.getByRole("option", { name: "Wie der Browser (Deutsch)" })).toBeAttached();
  await language.selectOption("en");
  await expect(page.getByRole("heading", { name: "Settings" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Settings" })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.lang)).toBe("en");
  await context.close();
});

test("English loads no other catalogue", async ({ page, service }) => {
  const requests = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await page.goto(service.url);
  await expect(page.getByRole("heading", { name: "Library" })).toBeVisible();
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  expect(await englishLeft(page)).toEqual(expect.arrayContaining(["Nothing here yet", "Choose files", "Skip to content", "Add"]));
  expect(requests).toContain("/app.js");
  expect(requests).not.toContain("/de.js");
});

test("times use the chosen format, and the shortcuts are listed", async ({ page, service }) => {
  await page.goto(settings(service));
  await page.getByLabel("Time format").selectOption("frames");
  await page.reload();
  await expect(page.getByLabel("Time format")).toHaveValue("frames");

  const keys = page.getByRole("region", { name: "Keyboard shortcuts" });
  await expect(keys).toContainText("Play / pause");
  await expect(keys.locator("kbd").filter({ hasText: "Space" }).first()).toBeVisible();
  const listed = await keys.locator("dd").allTextContents();
  await page.getByRole("heading", { name: "Settings" }).press("?");
  const help = page.getByRole("dialog");
  await expect(help).toBeVisible();
  expect(await help.locator("dd").allTextContents()).toEqual(listed);
});

for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
  test(`the settings are accessible at ${width} px, ${colorScheme}`, async ({ page, service }, testInfo) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.goto(settings(service));
    await expect(page.getByLabel("Language")).toBeVisible();
    await expectAccessible(page, `settings ${width} ${colorScheme}`);
    await page.screenshot({ path: testInfo.outputPath("settings.png"), fullPage: true });
  });
}

// The fragments of English texts, split at placeholders, that do not occur in German texts.
function texts(catalogue) {
  if (typeof catalogue === "string") return [catalogue];
  if (typeof catalogue === "function") return catalogue(...Array.from({ length: catalogue.length }, () => "\u00ab")).split(/\u00ab|NaN/);
  return Object.values(catalogue).flatMap(texts);
}
const GERMAN = new Set(texts(de).flatMap((text) => [text.trim(), ...text.split(/[^\p{L}]+/u)]));
const ENGLISH = [...new Set(texts(en).map((text) => text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "")))]
  .filter((text) => /\p{L}{2}/u.test(text) && !GERMAN.has(text));

// The visible and accessible texts of the page.
const shown = (page) => page.evaluate(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [document.title];
  while (walker.nextNode()) found.push(walker.currentNode.data);
  for (const name of ["aria-label", "aria-valuetext", "title", "placeholder", "label"]) {
    for (const one of document.querySelectorAll(`[${name}]`)) found.push(one.getAttribute(name));
  }
  return found.map((text) => text.trim().replace(/\s+/g, " ")).filter(Boolean);
});
async function englishLeft(page) {
  const parts = (await shown(page)).flatMap((text) => [text, ...text.split(/ · |, |: /)]);
  return ENGLISH.filter((text) => parts.some((part) =>
    part === text || ((text.includes(" ") || text.length > 6) && ` ${part} `.replace(/[.…!?]/g, " ").includes(` ${text} `))));
}
const expectGerman = async (page, name) => expect(await englishLeft(page), name).toEqual([]);

const ID = "00c0ffee00c0ffee";
const json = (page, path, body) => page.route((url) => url.pathname === path, (route) => route.fulfill({ json: body }));
const HIT = {
  video_id: ID, chunk_id: 3, start: 12, end: 17, timecode: "0:12.00-0:17.00", score: 0.61, p_present: 0.93, text_score: 4.25, found_by: ["ocr", "diarization"],
  video_url: "/storage/none.mp4", description: "Ein Boot legt ab.", people: [], objects: [], actions: [], tags: [], speakers: [], people_count: 0, turns: [],
};
const JOB = {
  job_id: "11112222333344445555666677778888", source: "hafen.mp4", status: "done", stage: "complete", detail: {}, error: null,
  created_at: "2026-01-31T12:00:00Z", updated_at: "2026-01-31T12:01:00Z",
  result: {
    video_id: ID, video_url: "", poster_url: null, storage_path: "", filename: "hafen.mp4", duration: 30, size_bytes: 1, chunk_config: "interval=10", chunks: 3,
    analyzers: ["default_video"], dropped: ["ocr"], indexed: { default_video: 3, transcript: 0 },
    aggregated: { ran: ["summary"], reused: [], aggregates: ["summary"], skipped: ["object_entities"], failed: { events: "E7" } },
    usage: { model: "large-1", calls: 1, input_tokens: 1200, output_tokens: 340 },
    profile: { scan: { calls: 1, seconds: 4.25 } },
  },
};
const RUNNING = { ...JOB, job_id: "2".repeat(32), status: "running", stage: "analyzing", result: null, detail: { recogniser: "x", done: 1, total: 12 } };
const FAILED = { ...JOB, job_id: "3".repeat(32), status: "failed", stage: "chunking", result: null, detail: { done: 1, total: 12 }, error: "E8" };
const AGGREGATES = {
  summary: { summary: "Ein Tag am Hafen.", key_points: ["Boote"], topics: ["Hafen"], tiers: [{ level: 0, section_count: 2, sections: [{ start: 0, end: 5, summary: "Morgens." }] }] },
  chapters: { chapters: [{ start: 0, end: 60, title: "Morgens", summary: "Es ist neblig." }] },
  events: { events: [{ start: 3, end: 4, event: "Ein Boot legt ab.", actor: "", category: "movement" }, { start: 8, end: 9, event: "Eine Frau winkt.", actor: "", category: "action" }] },
  novelty: { basis: "", mean_distance: 0, ranked: [{ chunk_id: 0, start: 0, end: 5, novelty: 0.4 }], outliers: [] },
  sentiment: { timeline: [{ start: 0, end: 5, positive: 0.5, neutral: 0.3, negative: 0.2, dominant: "positive" }] },
  speaker_stats: { speakers: [{ speaker: "S1", seconds: 30, turns: 2, share: 0.6 }], handovers: 1, total_speech_seconds: 40 },
  stats: { people: { series: [{ start: 0, end: 5, people_count: 2 }] }, objects: { most_common: [["Boot", 3]] } },
  ner: { entities: [{ text: "Hamburg", label: "location", count: 2 }] },
  object_entities: { objects: [{ entity_id: `${ID}-o1`, label: "Boot", appearances: 2, first_seen: 1, last_seen: 9, description: "Ein rotes Boot." }] },
  entities: {}, cooccurrence: { pairs: [{ a: `${ID}-p1`, b: `${ID}-p2`, chunks: 2, seconds: 9 }] },
};
const PEOPLE = [1, 2].map((number) => ({
  entity_id: `${ID}-p${number}`, appearances: 2, first_seen: 1, last_seen: 9, description: "Eine Frau im Mantel.", narrative: "",
  timeline: { observed_seconds: 8, spans: [[1, 9]] },
}));

// German texts are longer and must fit on a phone too.
async function expectFits(page, name) {
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await expectAccessible(page, `${name}, ${width} px`);
    await page.screenshot({ path: test.info().outputPath(`${name} ${width}.png`.replaceAll(" ", "-")), fullPage: true });
  }
}

test.describe("in German", () => {
  test.use({ locale: "de-DE", colorScheme: "dark", contextOptions: { reducedMotion: "reduce" } });

  test("no English is left in the library and the jobs", async ({ page, service }) => {
    await page.goto(service.url);
    await expect(page.getByRole("heading", { name: "Noch keine Videos" })).toBeVisible();
    await page.getByText("Optionen", { exact: true }).click();
    await page.getByLabel("In Momente aufteilen").selectOption("weights");
    await expect(page.getByLabel("Themenwechsel")).toBeVisible();
    await expectGerman(page, "empty library");
    await expectFits(page, "library in German");
    await json(page, "/jobs", { jobs: [RUNNING, FAILED, JOB], total: 3 });
    const video = { ...JOB.result, video_id: ID, chunks: 2000, collection: "Häfen", analyzers: ["default_video", "ocr"] };
    await json(page, "/videos", { videos: [video], total: 1 });
    await page.reload();
    await expect(page.getByRole("heading", { name: "1 Video" })).toBeVisible();
    await expect(page.getByText("2.000 Momente · Szenen, Text im Bild")).toBeVisible();
    await page.getByLabel("hafen.mp4 auswählen").check();
    await expectGerman(page, "library");
    await expectFits(page, "library in German");
    for (const name of ["In Sammlung verschieben …", "Zusammenfassung aktualisieren …", "Löschen …"]) {
      await page.getByRole("button", { name }).click();
      await expectGerman(page, name);
      await page.getByRole("button", { name: "Abbrechen" }).last().click();
    }
    await page.getByRole("link", { name: "Aufträge" }).click();
    await expect(page.getByText("4,3 s")).toBeAttached();
    for (const detail of await page.locator("details").all()) await detail.locator("summary").click();
    await expectGerman(page, "jobs");
    await expectFits(page, "jobs in German");
  });

  test("no English is left on a video's page", async ({ page, service }) => {
    await longVideo(page);
    await json(page, `/videos/${ID}/aggregates`, { video_id: ID, available: Object.keys(AGGREGATES), aggregates: AGGREGATES });
    await json(page, `/videos/${ID}/entities`, { entities: PEOPLE });
    const comment = { comment_id: "a", video_id: ID, start: 1, end: 2, text: "Ein Boot", author: "Ada", created_at: "2026-01-31T12:00:00Z", edited_at: "2026-01-31T12:00:00Z", editable: true };
    await json(page, `/videos/${ID}/comments`, { comments: [comment], total: 2, next: "b" });
    await json(page, `/videos/${ID}/chunking/preview`, { chunks: 2, chunk_config: "x", boundaries: [{ time: 9, votes: [{ detector: "cut", time: 9.1, score: 0.8 }] }, { time: 30, votes: [] }] });
    await json(page, "/videos/plan", { chunks: 2, drops: [], history: 1, total: { model_calls: 3, seconds: 90 } });
    await page.goto(`${service.url}/#/videos/${ID}?range=10-20`);
    await expect(page.getByText("2.000 Momente")).toBeVisible();
    const opened = [];
    await eachTab(page, async (name) => {
      opened.push(name);
      await expectGerman(page, name);
      await expectFits(page, `${name} in German`);
    });
    expect(opened).toHaveLength(9);
    await page.getByRole("tab", { name: "Momente" }).click();
    await json(page, `/videos/${ID}/chunks/0`, {
      chunk_id: 0, start: 0, end: 5, timecode: "0:00", people: { people: [{ person: "p1", clothing: "Mantel", locations: [{ t: 1, box: [0, 0, 0.5, 0.5], confidence: 0.9 }] }], people_count: 1 },
    });
    await page.getByRole("button", { name: "Details zum Moment bei 0:00 anzeigen" }).click();
    await expect(page.getByText("Rahmen sind eingeblendet in 1 Bild:")).toBeVisible();
    await expectGerman(page, "inspector");
    await expectFits(page, "inspector in German");
    for (const name of ["Erneut analysieren", "Zusammenfassung aktualisieren", "Löschen"]) {
      await page.getByRole("button", { name, exact: true }).first().click();
      await expectGerman(page, name);
      await page.keyboard.press("Escape");
    }
  });

  test("no English is left in search and ask", async ({ page, service }) => {
    await longVideo(page);
    await page.route((url) => url.pathname === "/schema", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...await response.json(), metadata_keys: { title: "string" } } });
    });
    await page.goto(`${service.url}/#/search`);
    await expect(page.getByRole("heading", { name: "Momente nach Bedeutung finden" })).toBeVisible();
    await page.getByText("Filter", { exact: true }).click();
    await expect(page.getByRole("combobox", { name: "Titel" })).toBeVisible();
    await expectGerman(page, "search");
    await expectFits(page, "search in German");
    const found = { answer: `Ein Boot legt ab. [${ID} 12.0-17.0s]`, answered: true, results: [HIT] };
    const audit = [
      { sentence: "Ein Boot legt ab.", citations: [`${ID} 12.0-17.0s`], verdict: "weak" },
      { sentence: "Es regnet.", citations: [], verdict: "unsupported" },
    ];
    await json(page, "/query", { ...found, audit });
    await page.goto(`${service.url}/#/search?q=Boot&filter.objects=Boot&filter.after=3&answer=1`);
    await expect(page.getByText("Ähnlichkeit 0,61")).toBeVisible();
    await expectGerman(page, "hits");
    await expectFits(page, "hits in German");
    await openHitMenu(page);
    await expectGerman(page, "the menu of a hit");
    await page.keyboard.press("Escape");
    const words = [{ says: "Fähre" }, { reads: "Nebel" }, { sees: "Auto" }, { speaker: "Ada" }];
    await json(page, "/query", { ...found, audit });
    for (const all of [[{ speech: true }, { people: true }, ...words], [{ not: { speech: true } }, { not: { people: true } }, ...words.map((one) => ({ not: one }))]]) {
      await page.goto(`${service.url}/#/search?where=${encodeURIComponent(JSON.stringify({ all }))}`);
      await expect(page.getByRole("group", { name: "Bedingungen" }).getByRole("listitem")).toHaveCount(6);
      for (const name of ["Gesagt wird …", "Text im Bild …", "Zu sehen ist …", "Sprecher …"]) {
        await page.getByRole("button", { name }).click();
        await expectGerman(page, name);
      }
      await expectFits(page, "conditions in German");
    }
    await json(page, "/query", {
      answer: null, results: [],
      diagnostics: {
        hits_without_filter: { objects: 3 }, best_score: 0.31, videos_without_analyzer: [ID], videos_without_field: [ID], unknown_videos: ["x"],
        found_by_others: { ocr: 1 },
      },
    });
    await page.goto(`${service.url}/#/search?q=Fähre&filter.objects=Boot&alike=0.5`);
    await expect(page.getByText("Ohne den Filter „Objekte“: 3 Momente.")).toBeVisible();
    await expectGerman(page, "nothing found");

    await json(page, "/ask", { question: "Was legt ab?", ...found, audit, sources: { [ID]: { routed_to: [], chunks: 2, sections: 1 } } });
    await page.goto(`${service.url}/#/ask`);
    await page.getByLabel("Frage zu den Videos stellen").fill("Was legt ab?");
    await page.getByRole("button", { name: "Fragen", exact: true }).click();
    await expect(page.getByRole("heading", { name: "1 Quelle" })).toBeVisible();
    await page.getByText("Verwendete Belege").click();
    await page.getByText(/^Satz für Satz geprüft/).click();
    await expectGerman(page, "answer");
    await expectFits(page, "answer in German");
  });

  test("no English is left in the settings and the keys", async ({ page, service }) => {
    await page.goto(settings(service));
    await page.getByRole("heading", { name: "Einstellungen" }).press("?");
    await expect(page.getByRole("dialog")).toBeVisible();
    await expectGerman(page, "settings");
    await expectFits(page, "settings in German");
    await page.keyboard.press("Escape");
    await page.goto(`${service.url}/#/nowhere`);
    await expect(page.getByRole("heading", { name: "Diese Seite gibt es nicht" })).toBeVisible();
    await expectGerman(page, "no such page");
  });
});
