// Search filters, sorting, saved searches and follow-ups.
import { expect, expectAccessible, openHitMenu, test } from "./fixtures.js";

const [ONE, TWO] = ["00c0ffee00c0ffee", "feedfacefeedface"];
const hit = (video_id, chunk_id, start) => ({
  video_id, chunk_id, start, end: start + 5, timecode: "", score: 0.6, p_present: 0.9, description: `A boat at ${start}.`, objects: ["boat"], tags: [], turns: [],
});
const schema = {
  filters: { objects: ["list[str]", "any"], after: ["float", "gte"], collections: ["list[str]", "any"], metadata: ["dict", "any"] },
  filter_analyzers: { objects: ["default_video"] }, metadata_keys: { camera: "string", take: "number" },
};

async function mockFootage(page, service, sent = []) {
  const real = await (await fetch(`${service.url}/schema`)).json();
  const filters = Object.fromEntries(Object.entries(schema.filters).map(([name, [type, matches]]) => [name, { type, matches, payload_field: name }]));
  const json = (path, answer) => page.route((url) => url.pathname === path, (route) => route.fulfill({ json: answer(route.request()) }));
  await json("/schema", () => ({ ...real, ...schema, filters }));
  await json("/values", (request) => {
    const params = new URL(request.url()).searchParams;
    sent.push(Object.fromEntries(params));
    const values = {
      objects: [{ value: "boat", moments: 12 }, { value: "buoy", moments: 1 }], collections: [{ value: "news", videos: 3 }],
      "metadata.camera": [{ value: "north", videos: 2 }], analyzer_ids: [{ value: "default_video", moments: 12 }],
    }[params.get("field")] ?? [];
    return { field: params.get("field"), values: values.filter(({ value }) => value.startsWith(params.get("prefix") ?? "")), more: false };
  });
  await json("/query", (request) => {
    const body = request.postDataJSON();
    sent.push(body);
    return { answer: null, results: [hit(ONE, 1, 30), hit(TWO, 1, 0), hit(ONE, 0, 10)].slice(0, body.limit) };
  });
  await json(`/videos/${ONE}`, () => ({ video_id: ONE, filename: "harbour.mp4" }));
  await json(`/videos/${TWO}`, () => ({ video_id: TWO, filename: "market.mp4" }));
}

test("filter values are picked from suggestions by keyboard", async ({ page, service }) => {
  const sent = [];
  await mockFootage(page, service, sent);
  await page.goto(`${service.url}/#/search`);
  await page.getByText("Filters", { exact: true }).press("Enter");
  const objects = page.getByRole("combobox", { name: "Objects" });
  await objects.focus();
  const list = page.getByRole("listbox");
  await expect(list.getByRole("option")).toHaveText([/boat\s*12 moments/, /buoy\s*1 moment/]);
  await expectAccessible(page, "a list of values");
  await objects.press("ArrowDown");
  await objects.press("ArrowDown");
  await expect(list.getByRole("option", { selected: true })).toContainText("buoy");
  await objects.press("Enter");
  await objects.pressSequentially("bo");
  await expect(list.getByRole("option")).toHaveText([/boat/]);
  await objects.press("ArrowDown");
  await objects.press("Enter");
  await expect(page.getByRole("button", { name: "Remove boat" })).toBeVisible();
  await page.getByLabel("Match all").check();
  const camera = page.getByRole("combobox", { name: "Camera" });
  await camera.focus();
  await expect(page.getByRole("option", { name: /north/ })).toContainText("2 videos");
  await camera.press("ArrowDown");
  await camera.press("Enter");
  await page.getByLabel("Search the footage").fill("boat");
  await page.getByLabel("Search the footage").press("Enter");
  await expect(page.locator("#hits li")).toHaveCount(3);
  expect(sent.findLast(({ text }) => text)).toMatchObject({ text: "boat", filters: { objects: { all: ["buoy", "boat"] }, metadata: { camera: "north" } } });
  // Suggestions are narrowed by the other filters, except that video filters ignore moment filters.
  expect(sent.findLast(({ field }) => field === "metadata.camera").filters).toBeUndefined();
  await page.reload();
  await expect(page.getByRole("button", { name: "Remove buoy" })).toBeVisible();
  await expect(page.getByLabel("Match all")).toBeChecked();
  await page.getByRole("button", { name: "Remove buoy" }).click();
  await expect(page.getByRole("button", { name: "Remove buoy" })).toHaveCount(0);
  await page.getByRole("combobox", { name: "Objects" }).press("Backspace");
  await expect(page.getByRole("button", { name: "Remove boat" })).toHaveCount(0);
  // The list is of the earlier conditions until it is updated.
  const notice = page.getByText("The conditions have changed since these moments were found.");
  await expect(notice).toBeVisible();
  await page.getByRole("button", { name: "Update the list" }).click();
  await expect(notice).toHaveCount(0);
  expect(sent.findLast(({ text }) => text).filters).toEqual({ metadata: { camera: "north" } });
});

test("typed text selects the value with that prefix, even before suggestions load", async ({ page, service }) => {
  const sent = [];
  await mockFootage(page, service, sent);
  await page.goto(`${service.url}/#/search`);
  await page.getByText("Filters", { exact: true }).press("Enter");
  const objects = page.getByRole("combobox", { name: "Objects" });
  await objects.fill("bu");
  await objects.press("Enter");
  await expect(page.getByRole("button", { name: "Remove buoy" })).toBeVisible();
  await objects.fill("bo");
  await expect(page.getByRole("listbox").getByRole("option")).toHaveText([/boat/]);
  await page.getByLabel("Search the footage").fill("boat");
  await page.getByLabel("Search the footage").press("Enter");
  await expect.poll(() => sent.findLast(({ text }) => text)).toMatchObject({ filters: { objects: ["buoy", "boat"] } });
});

test("a confirmed value waits for its suggestions while the next one is typed", async ({ page, service }) => {
  const sent = [];
  await mockFootage(page, service, sent);
  await page.goto(`${service.url}/#/search`);
  await page.getByText("Filters", { exact: true }).press("Enter");
  let answer;
  const answered = new Promise((done) => { answer = done; });
  await page.route((url) => url.pathname === "/values", async (route) => { await answered; await route.fallback(); });
  const objects = page.getByRole("combobox", { name: "Objects" });
  for (const word of ["bu", "ferry"]) {
    await objects.fill(word);
    await objects.press("Enter");
  }
  await objects.fill("bo");
  answer();
  await expect(page.getByRole("button", { name: "Remove buoy" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Remove ferry" })).toBeVisible();
  await expect(objects).toHaveValue("bo");
  await expect(page.getByRole("listbox").getByRole("option")).toHaveText([/boat/]);
  await objects.press("Enter");
  await page.getByLabel("Search the footage").fill("boat");
  await page.getByLabel("Search the footage").press("Enter");
  await expect.poll(() => sent.findLast(({ text }) => text)).toMatchObject({ filters: { objects: expect.arrayContaining(["buoy", "ferry", "boat"]) } });
});

test("results are sorted, grouped and followed up", async ({ page, service }) => {
  const sent = [];
  await mockFootage(page, service, sent);
  await page.goto(`${service.url}/#/search?q=boat&limit=3`);
  const starts = () => page.locator(".hits .thumb").evaluateAll((all) => all.map((one) => Number(one.dataset.start)));
  await expect.poll(starts).toEqual([30, 0, 10]);
  const sentBefore = sent.length;
  await page.getByLabel("Sort by").selectOption("Video");
  await expect(page.getByRole("heading", { level: 3 })).toHaveText(["harbour.mp4", "market.mp4"]);
  expect(await starts()).toEqual([30, 10, 0]);
  await page.getByLabel("Sort by").selectOption("Time");
  await expect.poll(starts).toEqual([10, 30, 0]);
  await expect(page).toHaveURL(/group=time/);
  expect(sent.slice(sentBefore).filter(({ text }) => text), "sorting sends no request").toEqual([]);

  await (await openHitMenu(page, 2)).getByRole("menuitem", { name: "Search in this video" }).click();
  await expect.poll(() => sent.findLast(({ text }) => text)).toMatchObject({ text: "boat", video_ids: [TWO] });
  await expect(page.getByRole("button", { name: "Remove market.mp4" })).toBeVisible();
  await (await openHitMenu(page)).getByRole("menuitem", { name: "By what is said or written" }).click();
  await expect.poll(() => sent.findLast(({ like }) => like)?.like).toBe(`m_${ONE}_30000_35000`);
  await expect(page.getByRole("search").getByRole("list", { name: "Search criteria" })).toContainText("Similar to harbour.mp4 at 0:30");
  await expect((await openHitMenu(page)).getByRole("menuitem", { name: "Show on timeline" })).toHaveAttribute("href", `#/videos/${ONE}?t=30&until=35&hit=10-15&hit=30-35`);
  await page.getByRole("button", { name: "Clear “similar to”" }).click();
  await page.getByLabel("Search the footage").fill("buoy");
  await page.getByLabel("Search the footage").press("Enter");
  await expect.poll(() => sent.findLast(({ text }) => text)).toMatchObject({ text: "buoy" });
  await expect(page).not.toHaveURL(/like=/);
});

test("a result is played from the sentence with the words of the search", async ({ page, service }) => {
  await mockFootage(page, service);
  const utterances = [{ speaker: "S1", text: "We sail.", start: 30, end: 32 }, { speaker: "S1", text: "There is a boat.", start: 32.5, end: 34 }];
  await page.route((url) => url.pathname === `/videos/${ONE}/transcript`, (route) => route.fulfill({ json: { utterances } }));
  await page.addInitScript(() => {
    window.starts = [];
    Object.defineProperty(HTMLMediaElement.prototype, "currentTime", { set: (t) => void window.starts.push(t), get: () => 0 });
  });
  const playAt = async (query) => {
    await page.goto("about:blank");
    await page.goto(`${service.url}/#/search?q=${query}`);
    await page.locator(`.thumb[data-video="${ONE}"][data-start="30"]`).click();
    await page.locator("video").dispatchEvent("loadedmetadata");
    await expect.poll(() => page.evaluate(() => window.starts.length)).toBeGreaterThan(0);
    return page.evaluate(() => window.starts[0]);
  };
  expect(await playAt("boat")).toBe(32);
  expect(await playAt("market")).toBe(30);
});

test("the collection of a search is a chip while the filters are folded", async ({ page, service }) => {
  const sent = [];
  await mockFootage(page, service, sent);
  await page.goto(`${service.url}/#/search?q=boat&filter.collections=harbour&filter.collections=market`);
  const chips = page.getByRole("list", { name: "Search criteria" });
  await expect(chips).toContainText("in the collection “harbour”");
  await expect(page.getByRole("combobox", { name: "Collections" })).toBeHidden();
  await expectAccessible(page, "the collections of a search");
  await page.getByRole("button", { name: "Search outside the collection “harbour”, too" }).click();
  await expect(page).toHaveURL(/#\/search\?q=boat&filter\.collections=market$/);
  const filters = () => sent.findLast(({ text }) => text)?.filters;
  await expect.poll(filters).toEqual({ collections: ["market"] });
  await page.getByRole("button", { name: "Search outside the collection “market”, too" }).click();
  await expect(chips).toHaveCount(0);
  await expect.poll(filters).toEqual({});
});

test("a clip of a quote contains the whole quote", async ({ page, service }) => {
  await mockFootage(page, service);
  const said = { speaker: "S1", text: "A boat at 30." };
  await page.route((url) => url.pathname === `/videos/${ONE}/transcript`, (route) => route.fulfill({ json: { utterances: [{ ...said, start: 33, end: 38.5 }] } }));
  const clips = [];
  await page.route((url) => url.pathname.endsWith("/clip"), (route) => {
    clips.push(new URL(route.request().url()).search);
    route.fulfill({ status: 503, json: { detail: "no clip here" } });
  });
  await page.goto(`${service.url}/#/search?q=boat`);
  await (await openHitMenu(page)).getByRole("menuitem", { name: "Save clip" }).click();
  await expect(page.getByText("no clip here")).toBeVisible();
  expect(clips).toEqual(["?start=30&end=38.5"]);
});

test("saved searches restore all their parameters", async ({ page, service }) => {
  await mockFootage(page, service);
  await page.goto(`${service.url}/#/search?q=boat&filter.objects=buoy`);
  await page.getByRole("button", { name: "Save search" }).click();
  const dialog = page.getByRole("dialog", { name: "Save search" });
  await expect(dialog.getByLabel("Name of the search")).toHaveValue("boat · Objects: buoy");
  await expectAccessible(page, "the name of a saved search");
  await dialog.getByLabel("Name of the search").fill("Boats at the buoy");
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("button", { name: "Saved", exact: true })).toBeVisible();
  await page.goto(`${service.url}/#/search?q=market`);
  await expect(page.locator("#hits li").first()).toBeVisible();
  await page.getByText("Saved and recent searches").click();
  await page.getByRole("button", { name: "Clear recent" }).click();
  await page.reload();
  await page.getByText("Saved and recent searches").click();
  await page.getByRole("link", { name: "Boats at the buoy" }).first().click();
  await expect(page.getByLabel("Search the footage")).toHaveValue("boat");
  await expect(page.getByRole("button", { name: "Saved", exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Remove buoy" })).toBeVisible();
});

test("filters without text list moments page by page", async ({ page, service }) => {
  const sent = [];
  await mockFootage(page, service, sent);
  await page.unroute((url) => url.pathname === "/query");
  const all = [hit(TWO, 0, 0), hit(ONE, 0, 10), hit(ONE, 1, 30)].map(({ score: _, p_present: __, ...rest }) => rest);
  await page.route((url) => url.pathname === "/query", (route) => {
    const body = route.request().postDataJSON();
    sent.push(body);
    const from = Number(body.cursor ?? 0);
    const results = all.slice(from, from + body.limit);
    route.fulfill({ json: { answer: null, results, ...(from + body.limit < all.length ? { next: String(from + body.limit) } : {}) } });
  });
  await page.goto(`${service.url}/#/search`);
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Find moments by meaning" })).toBeVisible();
  await page.getByText("Filters", { exact: true }).click();
  await page.getByRole("combobox", { name: "Objects" }).focus();
  await page.getByRole("option", { name: /boat/ }).click();
  await page.getByLabel("Results per page").fill("2");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect(page.getByRole("heading", { name: "First 2 moments" })).toBeVisible();
  expect(sent.findLast(({ order }) => order)).toMatchObject({ order: "newest", filters: { objects: ["boat"] }, pages: true });
  await expect(page.getByText(/^Similarity/), "a listing has no scores").toHaveCount(0);
  await expect(page.getByText("Score distribution")).toHaveCount(0);
  await page.getByRole("button", { name: "Load more", exact: true }).press("Enter");
  await expect(page.locator(".hits li")).toHaveCount(3);
  expect(sent.at(-1)).toMatchObject({ order: "newest", cursor: "2" });
  await expect(page.getByRole("heading", { name: "3 moments" })).toBeVisible();
  await expect(page.locator(".hits .thumb").nth(2)).toBeFocused();
  await expect(page.getByRole("button", { name: "Load more", exact: true })).toHaveCount(0);
  await page.getByText("Saved and recent searches").click();
  await expect(page.getByRole("link", { name: "All moments · Objects: boat" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "First 2 moments" })).toBeVisible();
});

test("the score distribution is a chart with a threshold and a table", async ({ page, service }, testInfo) => {
  const sent = [];
  await mockFootage(page, service, sent);
  await page.unroute((url) => url.pathname === "/query");
  await page.route((url) => url.pathname === "/query", (route) => {
    const body = route.request().postDataJSON();
    sent.push(body);
    const results = [0.92, 0.81, 0.33, 0.12, 0.11, 0.04].map((p_present, index) => ({ ...hit(ONE, index, index * 10), p_present }));
    route.fulfill({ json: { answer: null, results: results.filter((one) => one.p_present >= (body.min_p_present ?? 0)) } });
  });
  await page.goto(`${service.url}/#/search?q=boat`);
  await page.getByText("Score distribution").press("Enter");
  await expect(page.getByText("2 of 6 moments are more likely than not (right of the line).")).toBeVisible();
  await page.getByText("Values", { exact: true }).click();
  await expect(page.getByRole("row")).toHaveText([/Confidence\s*Moments/, /0% to 10%\s*1/, /10% to 20%\s*2/, /30% to 40%\s*1/, /80% to 90%\s*1/, /90% to 100%\s*1/]);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `how sure at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`sure-${width}.png`) });
  }
  await page.getByRole("button", { name: "Show only these" }).click();
  await expect.poll(() => sent.findLast(({ text }) => text)).toMatchObject({ text: "boat", min_p_present: 0.5 });
  await expect(page.locator(".hits li")).toHaveCount(2);
  await expect(page).toHaveURL(/sure=0.5/);
  await page.getByText("Score distribution").click();
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByRole("button", { name: "4 weaker results" }).click();
  await expect(page.locator(".hits li")).toHaveCount(6);
});

// Mocks the results of a search by their probabilities, in pages of the requested size.
async function mockProbabilities(page, probabilities) {
  await page.unroute((url) => url.pathname === "/query");
  await page.route((url) => url.pathname === "/query", (route) => {
    const { limit, cursor = "0" } = route.request().postDataJSON();
    const results = probabilities.map((p_present, index) => ({ ...hit(ONE, index, index * 10), p_present }));
    const end = Number(cursor) + limit;
    route.fulfill({ json: { answer: null, results: results.slice(Number(cursor), end), ...(end < results.length ? { next: String(end) } : {}) } });
  });
}
const starts = (page) => page.locator(".hits .thumb").evaluateAll((all) => all.map((one) => Number(one.dataset.start)));

test("weaker results are folded, and stay unfolded in this tab", async ({ page, service }, testInfo) => {
  await mockFootage(page, service);
  await mockProbabilities(page, [0.9, 0.3, 0.8, 0.2, 0.7, 0.1]);
  await page.goto(`${service.url}/#/search?q=boat&limit=4`);
  await expect.poll(() => starts(page)).toEqual([0, 20]);
  await expect(page.getByText("Nothing matches well")).toHaveCount(0);
  const weaker = page.getByRole("button", { name: /weaker result/ });
  await expect(weaker).toHaveText(/2 weaker results$/);
  await expect(weaker).toHaveAttribute("aria-expanded", "false");
  // A page of more results adds to both parts, and its first visible result gets the focus.
  await page.getByRole("button", { name: "Load more", exact: true }).press("Enter");
  await expect.poll(() => starts(page)).toEqual([0, 20, 40]);
  await expect(page.locator(".hits .thumb").nth(2)).toBeFocused();
  await expect(weaker).toHaveText(/3 weaker results$/);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `folded at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`folded-${width}.png`), fullPage: true });
  }
  await weaker.press("Enter");
  await expect.poll(() => starts(page)).toEqual([0, 20, 40, 10, 30, 50]);
  await expect(weaker).toHaveAttribute("aria-expanded", "true");
  await expectAccessible(page, "unfolded");
  await page.getByLabel("Sort by").selectOption("Video");
  await expect(page.getByRole("heading", { level: 3 })).toHaveText(["harbour.mp4", "harbour.mp4"]);
  await page.reload();
  await expect(page.locator(".hits li")).toHaveCount(4);
  await weaker.press("Enter");
  await expect.poll(() => starts(page)).toEqual([0, 20]);
  // A minimum that the user sets replaces the one of the page.
  await page.goto(`${service.url}/#/search?q=boat&sure=0.2`);
  await expect.poll(() => starts(page)).toEqual([0, 10, 20, 30, 40]);
  await expect(weaker).toHaveText(/1 weaker result$/);
});

test("if nothing matches well, the page says so and shows the nearest results", async ({ page, service }, testInfo) => {
  await mockFootage(page, service);
  await mockProbabilities(page, [0.4, 0.3, 0.3, 0.2, 0.2, 0.1, 0.1]);
  await page.goto(`${service.url}/#/search?q=boat`);
  await expect(page.getByText("Nothing matches well; the nearest 5 results:")).toBeVisible();
  await expect.poll(() => starts(page)).toEqual([0, 10, 20, 30, 40]);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `nothing strong at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`nearest-${width}.png`), fullPage: true });
  }
  await page.getByRole("button", { name: "2 weaker results" }).press("Enter");
  await expect(page.locator(".hits li")).toHaveCount(7);
});

for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
  test(`a filtered search is accessible at ${width} px, ${colorScheme}`, async ({ page, service }, testInfo) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await mockFootage(page, service);
    await page.goto(`${service.url}/#/search?q=boat&group=video&filter.objects=boat&filter.objects=buoy&video=${ONE}`);
    await expect(page.getByLabel("Match all")).toBeVisible();
    await expectAccessible(page, `search at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`search-${width}.png`), fullPage: true });
  });
}

const titles = (page) => page.locator(".hits .title");

test("results are arranged in a grid, which is remembered, and hovering scrubs", async ({ page, service }, testInfo) => {
  await mockFootage(page, service);
  const frames = [];
  await page.route((url) => url.pathname.endsWith("/frames"), (route) => {
    frames.push(Number(new URL(route.request().url()).searchParams.get("t")));
    return route.fulfill({ contentType: "image/svg+xml", body: '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"/>' });
  });
  await page.goto(`${service.url}/#/search?q=boat`);
  const views = page.getByRole("group", { name: "View" });
  await expect(views.getByRole("button", { name: "List" })).toHaveAttribute("aria-pressed", "true");
  await views.getByRole("button", { name: "Grid" }).press("Enter");
  const card = page.locator(".hits > li").first();
  await expect(page.locator(".hits")).toHaveClass(/grid/);
  await expect(card).toContainText("harbour.mp4");
  await expect(card).toContainText("0:30–0:35");
  await expect(card.locator(".text")).toContainText("A boat at 30.");
  await expect(card.locator(".score")).toHaveCount(0);
  await expect((await openHitMenu(page)).getByRole("menuitem", { name: "Save clip" })).toBeVisible();
  await page.keyboard.press("Escape");
  const tops = await page.locator(".hits > li").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(1);
  await page.reload();
  await expect(views.getByRole("button", { name: "Grid" })).toHaveAttribute("aria-pressed", "true");
  await expect(card.locator("img")).toHaveCount(1);

  // A few frames of the moment are loaded, and only when the pointer is over it.
  frames.length = 0;
  const box = await card.locator(".thumb").boundingBox();
  for (const part of [0.1, 0.3, 0.5, 0.7, 0.9, 0.1]) {
    await page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
    await expect(card.locator(".frame")).toHaveAttribute("src", new RegExp(`t=${(30 + Math.floor(part * 5) + 0.5).toFixed(2)}`));
  }
  // The picture of the card is the frame in the middle.
  expect([...new Set(frames)].toSorted()).toEqual([30.5, 31.5, 33.5, 34.5]);
  await page.mouse.move(0, 0);
  await expect(card.locator(".frame")).toHaveCount(0);
  await card.locator(".title").focus();
  await expect(card.locator(".frame")).toHaveCount(1);
  await page.getByLabel("Search the footage").focus();
  await expect(card.locator(".frame")).toHaveCount(0);

  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
  await card.locator(".title").focus();
  await expect(card.locator(".frame")).toHaveCount(0);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `grid at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`grid-${width}.png`), fullPage: true });
  }
});

test("results are moved through, played and opened by keyboard", async ({ page, service }) => {
  await mockFootage(page, service);
  await page.goto(`${service.url}/#/search?q=boat`);
  await expect(page.locator(".hits > li")).toHaveCount(3);
  await page.getByLabel("Search the footage").press("ArrowDown");
  await expect(titles(page).first()).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(titles(page).nth(1)).toBeFocused();
  // In a list, left and right are left to the browser.
  await page.keyboard.press("ArrowRight");
  await expect(titles(page).nth(1)).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(titles(page).first()).toBeFocused();
  await page.keyboard.press("Space");
  await expect(page.locator(".hits video")).toBeFocused();
  await page.getByRole("button", { name: "Close" }).press("Enter");
  await expect(titles(page).first()).toBeFocused();

  await page.getByRole("button", { name: "Grid" }).press("Enter");
  await page.getByLabel("Search the footage").press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(titles(page).nth(2)).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(titles(page).nth(1)).toBeFocused();
  await page.route((url) => url.pathname.startsWith(`/videos/${TWO}`), (route) => route.fulfill({ status: 404, json: { detail: "not here" } }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`#/videos/${TWO}`));
  await page.goBack();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toContainText("Play the focused result in place");
});

test("times are typed and shown as minutes and seconds", async ({ page, service }) => {
  const sent = [];
  await mockFootage(page, service, sent);
  await page.goto(`${service.url}/#/search?q=boat&filter.after=83.5`);
  const after = page.getByLabel("Starts at or after (m:ss)");
  await expect(after).toHaveValue("1:23.5");
  await after.fill("soon");
  await after.press("Enter");
  expect(await after.evaluate((input) => input.validationMessage)).toBe("Enter a time such as 1:23 or 1:02:03.");
  for (const [typed, shown, seconds] of [["1:02:03", "1:02:03", 3723], ["75", "1:15", 75], ["2:05", "2:05", 125]]) {
    await after.fill(typed);
    await after.press("Enter");
    await expect.poll(() => sent.findLast(({ text }) => text)?.filters).toEqual({ after: seconds });
    await expect(after).toHaveValue(shown);
  }
  await page.getByRole("link", { name: "Ask about this" }).press("Enter");
  await expect(page.getByRole("list", { name: "Scope of the question" })).toContainText("Starts at or after (m:ss): 2:05");
});
