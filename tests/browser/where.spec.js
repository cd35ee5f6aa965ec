// Conditions on what is said, shown and heard, of searches and questions.
import { expect, expectAccessible, test } from "./fixtures.js";

test.use({ settings: { environment: { SERVICE_CALLBACKS__SECRET: "only-for-this-test" } } });

const ID = "00c0ffee00c0ffee";
const hit = (chunk_id) => ({ video_id: ID, chunk_id, start: chunk_id * 10, end: chunk_id * 10 + 10, timecode: "", description: "A boat leaves.", objects: ["boat"], tags: [], turns: [] });
const diagnostics = { hits_without_filter: {}, videos_without_analyzer: [], videos_without_field: [], unknown_videos: [], best_score: null };
const json = (page, path, answer) => page.route((url) => url.pathname === path, (route) => route.fulfill({ json: answer(route.request()) }));
const group = (page) => page.getByRole("group", { name: "Conditions" });
const button = (page, name) => group(page).getByRole("button", { name, exact: true });
const chips = (page) => group(page).getByRole("list", { name: "Selected" }).getByRole("button");
const link = (page, expression) => `#/${page}?where=${encodeURIComponent(JSON.stringify(expression))}`;

/** Answers searches with two moments, and records their requests. */
async function mockSearch(page, response = {}) {
  const sent = [];
  await json(page, "/query", (request) => {
    sent.push(request.postDataJSON());
    return { answer: null, results: [hit(1), hit(2)], ...response };
  });
  await json(page, `/videos/${ID}`, () => ({ video_id: ID, filename: "harbour.mp4" }));
  return sent;
}

/** Adds a condition with words. */
async function addWords(page, opener, words, { exclude = false } = {}) {
  await button(page, opener).click();
  await expect(group(page).getByRole("textbox")).toBeFocused();
  await group(page).getByRole("textbox").fill(words);
  if (exclude) await group(page).getByLabel("Exclude").check();
  await button(page, "Add").click();
}

test("conditions are built as chips, sent and removed", async ({ page, service }) => {
  const sent = await mockSearch(page);
  await page.goto(`${service.url}/#/search`);
  await button(page, "Speech").click();
  // The first condition searches at once.
  await expect(page.locator("#hits li")).toHaveCount(2);
  expect(sent).toMatchObject([{ order: "newest", filters: { where: { speech: true } } }]);
  await button(page, "No speech").click();
  await expect(button(page, "Speech")).toHaveAttribute("aria-pressed", "false");
  await expect(button(page, "No speech")).toHaveAttribute("aria-pressed", "true");
  await button(page, "People").click();
  await addWords(page, "Says …", "ferry");
  await addWords(page, "On screen …", "fog");
  await addWords(page, "Sees …", "car", { exclude: true });
  await addWords(page, "Speaker …", "Ada");
  await expect(chips(page)).toHaveText(["no speech ×", "people ×", "says “ferry” ×", "“fog” on screen ×", "without car ×", "Ada speaks ×"]);
  await page.getByLabel("Search the footage").fill("boat");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect.poll(() => sent.length).toBe(2);
  await expect(page.locator("#hits li")).toHaveCount(2);
  expect(sent[1]).toMatchObject({
    text: "boat",
    filters: { where: { all: [{ not: { speech: true } }, { people: true }, { says: "ferry" }, { reads: "fog" }, { not: { sees: "car" } }, { speaker: "Ada" }] } },
  });
  for (const name of ["Remove people", "Remove “fog” on screen", "Remove Ada speaks", "Remove says “ferry”"]) await button(page, name).click();
  await button(page, "No speech").click();
  await expect(chips(page)).toHaveText(["without car ×"]);
  await page.getByLabel("Search the footage").press("Enter");
  await expect.poll(() => sent.at(-1).filters.where).toEqual({ not: { sees: "car" } });
  await button(page, "Remove without car").click();
  await page.getByLabel("Search the footage").press("Enter");
  await expect.poll(() => sent.length).toBe(4);
  expect(sent[3].filters).toEqual({});
});

test("conditions without text list moments, in the address, the history and saved searches", async ({ page, service }) => {
  const sent = await mockSearch(page);
  await page.goto(`${service.url}/#/search`);
  await addWords(page, "Sees …", "car", { exclude: true });
  await expect(page.getByRole("heading", { name: "2 moments" })).toBeVisible();
  expect(sent[0]).toMatchObject({ order: "newest", filters: { where: { not: { sees: "car" } } } });
  await page.getByRole("button", { name: "Save search" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await button(page, "Speech").click();
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect.poll(() => sent.at(-1).filters.where).toEqual({ all: [{ not: { sees: "car" } }, { speech: true }] });
  await page.reload();
  await expect(chips(page)).toHaveText(["without car ×", "speech ×"]);
  await expect.poll(() => sent.length).toBe(3);
  expect(sent[2]).toEqual(sent[1]);
  await page.goBack();
  await expect(chips(page)).toHaveText(["without car ×"]);
  await page.goto(`${service.url}/#/search`);
  await expect(chips(page)).toHaveCount(0);
  await page.getByText("Saved and recent searches").click();
  await expect(page.getByRole("link", { name: "All moments · without car · speech" })).toBeVisible();
  await page.getByRole("link", { name: "All moments · without car", exact: true }).first().click();
  await expect(chips(page)).toHaveText(["without car ×"]);
  await expect(page.getByRole("button", { name: "Saved", exact: true })).toBeVisible();
});

test("conditions are set by keyboard", async ({ page, service }) => {
  const sent = await mockSearch(page);
  await page.goto(`${service.url}/#/search`);
  await button(page, "No people").press("Space");
  await button(page, "Says …").press("Enter");
  await page.keyboard.type("ferry");
  await page.keyboard.press("Enter");
  await expect(chips(page)).toHaveText(["no people ×", "says “ferry” ×"]);
  await page.keyboard.type("fog");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(chips(page)).toHaveText(["no people ×", "says “ferry” ×", "does not say “fog” ×"]);
  await expect(group(page).getByLabel("Exclude"), "each word is included by default").not.toBeChecked();
  await page.keyboard.type("dropped");
  await page.keyboard.press("Escape");
  await expect(group(page).getByRole("textbox")).toHaveCount(0);
  await expect(button(page, "Says …")).toBeFocused();

  await button(page, "Remove says “ferry”").press("Enter");
  await expect(button(page, "Remove does not say “fog”")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(button(page, "Remove no people")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(chips(page)).toHaveCount(0);
  await expect(button(page, "Speech")).toBeFocused();

  // Typed words count without being added, and Enter in the empty field searches.
  await button(page, "Sees …").press("Enter");
  await page.keyboard.type("boat");
  await page.getByLabel("Search the footage").press("Enter");
  await expect.poll(() => sent.at(-1)?.filters.where).toEqual({ sees: "boat" });
  await expect(chips(page)).toHaveText(["with boat ×"]);
  await group(page).getByRole("textbox").fill("dog");
  await group(page).getByRole("textbox").press("Enter");
  expect(sent).toHaveLength(2);
  await group(page).getByRole("textbox").press("Enter");
  await expect.poll(() => sent.at(-1).filters.where).toEqual({ all: [{ sees: "boat" }, { sees: "dog" }] });
});

test("questions have conditions, also those of a search", async ({ page, service }) => {
  await mockSearch(page);
  const sent = [];
  await json(page, "/ask", (request) => {
    sent.push(request.postDataJSON());
    return { question: sent.at(-1).question, answer: `A boat leaves [${ID} 10-20s].`, answered: true, sources: {}, results: [hit(1)] };
  });
  await page.goto(`${service.url}/${link("search", { speech: true })}&q=boat`);
  await page.getByRole("link", { name: "Ask about this" }).click();
  await expect(chips(page)).toHaveText(["speech ×"]);
  await expect.poll(() => sent.length).toBe(1);
  expect(sent[0]).toMatchObject({ question: "boat", filters: { where: { speech: true } } });
  await addWords(page, "Sees …", "car", { exclude: true });
  await page.getByLabel("Ask about the footage").fill("What leaves?");
  await page.getByLabel("Ask about the footage").press("Enter");
  await expect.poll(() => sent.length).toBe(2);
  expect(sent[1]).toMatchObject({ question: "What leaves?", filters: { where: { all: [{ speech: true }, { not: { sees: "car" } }] } } });
  await expect(page.getByRole("article")).toHaveCount(2);
  await page.reload();
  await expect(chips(page)).toHaveText(["speech ×", "without car ×"]);
});

test("an empty result suggests fewer conditions", async ({ page, service }) => {
  await mockSearch(page, { results: [], diagnostics: { ...diagnostics, hits_without_filter: { where: 3 } } });
  await page.goto(`${service.url}/${link("search", { sees: "car" })}`);
  await expect(page.getByText("No results. Try removing filters or conditions.")).toBeVisible();
  await expect(page.getByText("Without the filter “Conditions”: 3 moments.")).toBeVisible();
});

test("a link can have an expression that the page does not offer", async ({ page, service }) => {
  const sent = await mockSearch(page);
  const expression = { at_least: { count: 2 }, of: { sees: "boat" } };
  await page.goto(`${service.url}/${link("search", expression)}`);
  await expect(chips(page)).toHaveText([`${JSON.stringify(expression)} ×`]);
  await expect.poll(() => sent.at(-1)?.filters.where).toEqual(expression);
  await button(page, "Speech").click();
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect.poll(() => sent.at(-1).filters.where).toEqual({ all: [expression, { speech: true }] });
});

for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
  test(`conditions are accessible at ${width} px, ${colorScheme}`, async ({ page, service }, testInfo) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await mockSearch(page);
    const all = [{ not: { speech: true } }, { people: true }, { says: "the ferry leaves at nine" }, { not: { sees: "car" } }, { any: [{ reads: "fog" }, { reads: "ferry" }] }];
    for (const name of ["search", "ask"]) {
      await page.goto(`${service.url}/${link(name, { all })}`);
      await button(page, "On screen …").click();
      await expect(chips(page)).toHaveCount(all.length);
      await expectAccessible(page, `conditions of ${name} at ${width}`);
      await page.screenshot({ path: testInfo.outputPath(`${name}-${width}.png`), fullPage: true });
    }
  });
}

test("the service accepts all conditions that the page offers", async ({ page, service }) => {
  const words = [{ says: "ferry" }, { reads: "fog" }, { sees: "car" }, { speaker: "Ada" }];
  const excluded = [{ not: { speech: true } }, { not: { people: true } }, ...words.map((one) => ({ not: one }))];
  for (const all of [[{ speech: true }, { people: true }, ...words], excluded]) {
    await page.goto(`${service.url}/${link("search", { all })}`);
    await expect(chips(page)).toHaveCount(all.length);
    await expect(page.getByText("No results.")).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
  }
  await page.goto(`${service.url}/#/search?where=${encodeURIComponent('{"all":[{"speech":tr')}`);
  await expect(page.getByRole("alert")).toContainText("expression");
});
