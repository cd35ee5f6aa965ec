// Search and ask with rich responses: confidence, empty results, citations and verdicts.
import { createServer } from "node:http";
import { expect, expectAccessible, openHitMenu, test } from "./fixtures.js";

const ID = "00c0ffee00c0ffee";
const hit = {
  video_id: ID, chunk_id: 3, start: 12, end: 17, timecode: "0:12.00-0:17.00", score: 0.61, video_url: "/storage/none.mp4", description: "A boat leaves the harbour.",
  people: [], objects: ["boat"], actions: [], tags: [], speakers: [], people_count: 0, turns: [],
};
const json = (page, path, body) => page.route((url) => url.pathname === path, (route) => route.fulfill({ json: body }));

async function richer(page, service) {
  const schema = await (await fetch(`${service.url}/schema`)).json();
  await json(page, "/schema", {
    ...schema,
    modes: { vector: "by meaning", text: "by words", hybrid: "by both" },
    recommended_thresholds_by_analyzer: { default_video: { combined: 0.42 } },
  });
}
async function search(page, service) {
  await page.goto(`${service.url}/#/search`);
  await page.getByLabel("Search the footage").fill("boat");
  await page.getByText("Filters", { exact: true }).click();
}

test("a search uses the modes and thresholds of the service", async ({ page, service }) => {
  await richer(page, service);
  await json(page, "/query", { answer: null, results: [{ ...hit, p_present: 0.93, text_score: 4.25 }] });
  await search(page, service);
  await page.getByLabel("Search in", { exact: true }).selectOption("default_video");
  await page.getByLabel("Search by", { exact: true }).selectOption("hybrid");
  await page.getByRole("button", { name: /Use 0\.42/ }).click();
  await page.getByLabel("Starts at or after (m:ss)").fill("2");
  for (const word of ["boat", "ferry"]) {
    await page.getByLabel("Objects", { exact: true }).fill(word);
    await page.getByLabel("Objects", { exact: true }).press("Enter");
  }
  const sent = page.waitForRequest((one) => one.url().endsWith("/query"));
  await page.getByRole("button", { name: "Search", exact: true }).click();
  expect((await sent).postDataJSON()).toMatchObject({
    text: "boat", analyzer: "default_video", mode: "hybrid", score_threshold: 0.42, filters: { after: 2, objects: ["boat", "ferry"] },
  });
  const first = page.locator("#hits li").first();
  await expect(first).toContainText("0.61");
  await expect(first).toContainText("93%");
  await expect(first).toContainText("4.3");
  await expect(first.locator("mark")).toHaveText("boat");
});

test("a search covers everything by default and shows which analyzers matched", async ({ page, service }) => {
  await json(page, "/query", { answer: null, results: [{ ...hit, found_by: ["diarization", "ocr"] }] });
  await search(page, service);
  await page.getByLabel("Minimum confidence (0–1)").fill("0.5");
  const sent = page.waitForRequest((one) => one.url().endsWith("/query"));
  await page.getByRole("button", { name: "Search", exact: true }).click();
  const body = (await sent).postDataJSON();
  expect(body).toMatchObject({ text: "boat", analyzer: "*", min_p_present: 0.5 });
  expect(body.mode).toBeUndefined();
  await expect(page.locator("#hits li").first()).toContainText("found in speech by speaker and on-screen text");
});

test("a refusal lists the closest moments, without improbable ones", async ({ page, service }) => {
  await json(page, "/query", { answer: null, results: [] });
  await json(page, "/ask", {
    question: "Is there a ship?", answer: "No moment answers this question.", answered: false, sources: {},
    audit: [{ sentence: "No moment answers this question.", citations: [], verdict: "supported" }],
    results: [{ ...hit, p_present: 0.3 }, { ...hit, chunk_id: 4, p_present: 0.01 }],
  });
  await page.goto(`${service.url}/#/ask`);
  await page.getByLabel("Ask about the footage").fill("Is there a ship?");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await expect(page.getByRole("heading", { name: "1 closest moment" })).toBeVisible();
  await expect(page.locator("#hits li")).toHaveCount(1);
  await expect(page.getByText("supported")).toBeHidden();
  await expect(page.getByText("Not answered")).toBeVisible();
  await expect(page.getByRole("heading", { name: /source/ })).toBeHidden();

  await page.unrouteAll();
  const audit = [{ sentence: "No moment answers this question.", citations: [`[${ID} 12-17s]`], verdict: "supported" }];
  await json(page, "/query", { answer: `No moment answers this question [${ID} 12-17s].`, answered: false, audit, results: [hit] });
  await page.goto(`${service.url}/#/search?q=ship&answer=1`);
  await expect(page.getByText("Not answered")).toBeVisible();
  await expect(page.getByText("supported")).toBeHidden();
});

test("a refusal lists the nearest three moments, and an answer has its sources as a strip", async ({ page, service }, testInfo) => {
  const moments = Array.from({ length: 6 }, (_, index) => ({ ...hit, chunk_id: index, start: index * 70, end: index * 70 + 5, p_present: 0.4 }));
  const cited = moments.slice(0, 4).map(({ start, end }) => `A boat leaves [${ID} ${start}-${end}s].`).join(" ");
  await json(page, `/videos/${ID}`, { video_id: ID, filename: "harbour.mp4" });
  await json(page, "/ask", { question: "x", answer: "No moment answers this question.", answered: false, sources: {}, results: moments });
  await page.goto(`${service.url}/#/ask?q=x`);
  await expect(page.getByRole("heading", { name: "3 closest moments" })).toBeVisible();
  await expect(page.locator(".hits li")).toHaveCount(3);

  await page.unroute((url) => url.pathname === "/ask").catch(() => {});
  await page.route((url) => url.pathname === "/ask", (route) => route.fulfill({ json: { question: "x", answer: cited, answered: true, sources: {}, results: moments } }));
  await page.getByLabel("Ask about the footage").press("Enter");
  const answer = page.getByRole("region", { name: "Answer" });
  await expect(answer.getByRole("heading", { name: "4 sources" })).toBeVisible();
  const strip = answer.locator(".hits > li");
  await expect(strip).toHaveCount(4);
  await expect(strip.nth(1)).toContainText("harbour.mp4");
  await expect(strip.nth(1)).toContainText("1:10–1:15");
  await expect(strip.nth(1)).not.toContainText("A boat leaves");
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `sources at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`sources-${width}.png`), fullPage: true });
  }
  await answer.locator(".answer-text .cite").nth(2).press("Enter");
  await expect(answer.locator("video")).toBeFocused();
  await page.getByRole("button", { name: "Close" }).press("Enter");
  await strip.nth(1).getByRole("link", { name: "harbour.mp4" }).press("ArrowRight");
  await expect(strip.nth(2).getByRole("link", { name: "harbour.mp4" })).toBeFocused();
  await expect(strip.nth(2).getByRole("link", { name: "harbour.mp4" })).toHaveAttribute("href", `#/videos/${ID}?t=140&until=145`);
});

test("an answer without citations is a refusal, and only cited moments are sources", async ({ page, service }) => {
  await json(page, "/query", { answer: null, results: [] });
  const reply = { question: "x", answer: "Nothing here is about that.", sources: {}, audit: [{ sentence: "Nothing here is about that.", citations: [], verdict: "supported" }], results: [] };
  await json(page, "/ask", reply);
  // A link with a question asks it.
  await page.goto(`${service.url}/#/ask?q=x`);
  await expect(page.getByText("Not answered")).toBeVisible();
  await expect(page.getByText("supported")).toBeHidden();

  const improbable = Array.from({ length: 22 }, (_, index) => ({ ...hit, chunk_id: 10 + index, start: 100 + index, end: 101 + index, p_present: 0.02 }));
  await page.unroute((url) => url.pathname === "/ask").catch(() => {});
  await page.unrouteAll();
  await json(page, "/query", { answer: null, results: [] });
  await json(page, `/videos/${ID}`, { video_id: ID, filename: "harbour.mp4" });
  await json(page, "/ask", { ...reply, answer: `A boat leaves [${ID} 12-17s].`, answered: true, audit: undefined, results: [hit, ...improbable, { ...hit, chunk_id: 4, start: 20, end: 25, p_present: 0.6 }] });
  await page.reload();
  await expect(page.getByRole("heading", { name: "1 source" })).toBeVisible();
  await expect(page.locator("#hits li")).toHaveCount(1);
  await expect(page.locator("#hits li")).toContainText("harbour.mp4");
  await expect(page.getByText("1 other moment")).toBeVisible();
});

test("filters that cannot match are hidden, and explained if a link uses them", async ({ page, service }) => {
  const schema = await (await fetch(`${service.url}/schema`)).json();
  await json(page, "/schema", { ...schema, filter_analyzers: { objects: ["default_video"], speakers: ["diarization"], people: ["default_video"], tags: ["default_video"], min_people: [], max_people: [] } });
  await json(page, "/query", { answer: null, results: [hit] });
  await page.goto(`${service.url}/#/search`);
  await page.getByText("Filters", { exact: true }).click();
  await expect(page.getByLabel("Speakers")).toBeVisible();
  await expect(page.getByLabel(/(Min|Max)\. people/)).toHaveCount(0);
  await page.getByLabel("Search in", { exact: true }).selectOption("default_video");
  await expect(page.getByLabel("Objects")).toBeVisible();
  await expect(page.getByLabel("Speakers")).toHaveCount(0);
  for (const [query, why] of [
    ["q=x&filter.min_people=2", "“Min. people” is not available in this service."],
    ["q=x&analyzer=default_video&filter.speakers=S1", "“Speakers” only applies to “Speech by speaker”"],
    ["q=x&filter.speakers=S1&filter.objects=boat", "no moment can match all of them"],
  ]) {
    await page.goto(`${service.url}/#/search?${query}`);
    await expect(page.getByText(why)).toBeVisible();
  }
});

test("the page contains no implementation terms", async ({ page, service }) => {
  await json(page, "/query", { answer: null, results: [{ ...hit, p_present: 0.9, text_score: 4 }] });
  const ours = /vector|BM25|cosine|flatten|analyzer|chunk|embed|payload|rank fusion|reciprocal/i;
  for (const hash of ["#/", "#/search?q=boat", "#/ask", "#/jobs"]) {
    await page.goto(`${service.url}/${hash}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    if (hash.includes("q=")) await expect(page.locator("#hits li")).toHaveCount(1);
    for (const summary of await page.locator("main summary").all()) await summary.click();
    if (hash.includes("q=")) await openHitMenu(page);
    const said = await page.evaluate(() => {
      const titles = [...document.querySelectorAll("[title], [aria-label], [placeholder]")].flatMap((one) => ["title", "aria-label", "placeholder"].map((name) => one.getAttribute(name) ?? ""));
      return [document.querySelector("main").innerText, ...titles].join("\n");
    });
    expect(said, hash).not.toMatch(ours);
    for (const select of await page.locator("main select").all()) {
      for (const option of await select.locator("option").allTextContents()) expect(option).not.toMatch(ours);
    }
  }
});

test("whole words are highlighted, and improbable results have a warning", async ({ page, service }) => {
  await json(page, "/query", { answer: null, results: [{ ...hit, description: "Another boat leaves the harbour.", p_present: 0.03 }] });
  await page.goto(`${service.url}/#/search?q=${encodeURIComponent("where are the boats")}`);
  await expect(page.locator("#hits mark")).toHaveText(["boat"]);
  await expect(page.getByText("Nothing matches well; the nearest result:")).toBeVisible();
});

test("an empty result explains why", async ({ page, service }) => {
  await json(page, "/query", {
    answer: null,
    results: [],
    diagnostics: {
      hits_without_filter: { min_people: 4, objects: 0 }, videos_without_analyzer: [ID], videos_without_field: [], unknown_videos: ["feedfacefeedface"], best_score: 0.31,
      found_by_others: { diarization: 0.98 },
    },
  });
  await search(page, service);
  await page.getByLabel("Minimum similarity (0–1)").fill("0.5");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  for (const text of [
    "Without the filter “Min. people”: 4 moments.",
    "The closest moment has a similarity of 0.31, below your minimum of 0.5.",
    `${ID} has not been analysed for this.`,
    "Video not found: feedfacefeedface.",
    "“Speech by speaker” has matches. Search in everything.",
  ]) await expect(page.getByText(text)).toBeVisible();
  await expect(page.getByText("Without the filter “Objects”")).toBeHidden();
});

test("an answer shows the verdict on each sentence", async ({ page, service }) => {
  const citations = [`${ID} 12-17s`];
  await json(page, "/query", { answer: null, results: [] });
  await json(page, "/ask", {
    question: "What leaves?",
    answer: `A boat leaves [${citations}]. It is big [${citations}].`,
    sources: { [ID]: { routed_to: ["events"], sections: 0, chunks: 1 } },
    results: [hit],
    audit: [
      { sentence: "A boat leaves.", citations, verdict: "supported" },
      { sentence: "It is big.", citations, verdict: "weak" },
      { sentence: "It is green.", citations, verdict: "unsupported" },
    ],
  });
  await page.goto(`${service.url}/#/ask`);
  await page.getByLabel("Ask about the footage").fill("What leaves?");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const answer = page.getByRole("region", { name: "Answer" });
  await expect(answer.locator(".answer-text > span")).toHaveText([/^A boat leaves\. ▸ 0:12\s*$/, /^It is big\. ▸ 0:12\s+Weak$/]);
  await answer.getByText("1 supported, 1 weak, 1 removed").click();
  const green = answer.getByRole("listitem").filter({ hasText: "It is green" });
  await expect(green).toContainText("Removed");
  await expect(green.locator(".cite")).toHaveText("▸ 0:12");
  await expect(answer).not.toContainText(`[${ID}`);
  await answer.getByText("Evidence used").click();
  await expect(answer.getByText(/1 moment/)).toBeVisible();
});

test("an answer streams: moments, draft, sentences, then the whole answer", async ({ page, service }) => {
  const citations = [`[${ID} 12-17s]`];
  const sentence = { sentence: "A boat leaves.", citations, moments: [], verdict: "supported" };
  const steps = [];
  const server = createServer((_, answer) => {
    answer.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (event, data) => answer.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    steps.push(
      () => send("moments", { results: [hit] }),
      () => { send("piece", { text: "A dog", begins: true }); send("piece", { text: "A boat", begins: true }); send("piece", { text: " leaves at", begins: false }); },
      () => send("sentence", sentence),
      () => { send("answer", { question: "What leaves?", answer: `A boat leaves. ${citations}`, answered: true, audit: [sentence], sources: {}, results: [hit] }); answer.end(); },
    );
    answer.flushHeaders();
  });
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  try {
    await page.route((url) => url.pathname === "/ask", (route) => route.continue({ url: `http://127.0.0.1:${server.address().port}/ask` }));
    await page.goto(`${service.url}/#/ask`);
    await page.getByLabel("Ask about the footage").fill("What leaves?");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await expect(page.getByText("Looking for relevant moments")).toBeVisible();
    await expect.poll(() => steps.length).toBe(4);
    steps[0]();
    await expect(page.getByText("Reading 1 moment…")).toBeVisible();
    await expect(page.locator("#hits li")).toHaveCount(1);
    steps[1]();
    await expect(page.getByText("A boat leaves at", { exact: true })).toBeVisible();
    await expect(page.getByText("A dog")).toHaveCount(0);
    await expect(page.getByText("not checked against the moments yet")).toBeVisible();
    steps[2]();
    await expect(page.locator(".answer-text")).toContainText("A boat leaves.");
    await expect(page.getByText("not checked against the moments yet")).toHaveCount(0);
    await expect(page.locator("#answer")).toHaveCount(0);
    steps[3]();
    await expect(page.locator("#answer .cite")).toBeVisible();
    await expect(page.getByRole("heading", { name: "1 source" })).toBeVisible();
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("a conversation continues about the same videos, is copied with sources, and can be stopped", async ({ page, service }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: service.url });
  await json(page, `/videos/${ID}`, { video_id: ID, filename: "harbour.mp4" });
  const requests = [];
  let held;
  await page.route((url) => url.pathname === "/ask", async (route) => {
    requests.push(route.request().postDataJSON());
    await held;
    await route.fulfill({ json: { question: requests.at(-1).question, answer: `A boat leaves [${ID} 12-17s].`, answered: true, sources: {}, results: [hit] } }).catch(() => {});
  });
  await page.goto(`${service.url}/#/ask`);
  const question = page.getByLabel("Ask about the footage");
  await question.fill("What leaves?");
  await question.press("Enter");
  await expect(page.locator("#answer")).toBeVisible();
  await expect(page.getByRole("heading", { name: "What leaves?" })).toBeVisible();
  await page.getByRole("button", { name: "Copy with sources" }).click();
  await expect(page.getByText("Copied the answer")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    `What leaves?\n\nA boat leaves [1].\n\n[1] harbour.mp4, 12–17 s: ${service.url}/#/videos/${ID}?t=12`,
  );

  await page.getByRole("button", { name: "Ask more about this video" }).click();
  await expect(page.getByRole("button", { name: "Remove harbour.mp4" })).toBeVisible();
  await question.fill("And when?");
  await question.press("Enter");
  await expect(page.getByText("A boat leaves ▸ 0:12")).toHaveCount(2);
  expect(requests.map(({ video_ids }) => video_ids)).toEqual([null, [ID]]);
  await expectAccessible(page, "a conversation");

  held = new Promise(() => {});
  await question.fill("And why?");
  await question.press("Enter");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByText("Stopped.")).toBeVisible();
  await expect(page.getByRole("article")).toHaveCount(3);
});

test("a follow-up is limited to the cited moments, and search filters apply", async ({ page, service }, testInfo) => {
  await json(page, `/videos/${ID}`, { video_id: ID, filename: "harbour.mp4" });
  const real = await (await fetch(`${service.url}/schema`)).json();
  await json(page, "/schema", { ...real, filters: { ...real.filters, objects: { type: "list[str]", matches: "any", payload_field: "objects" } } });
  await json(page, "/query", { answer: null, results: [hit] });
  const requests = [];
  await page.route((url) => url.pathname === "/ask", async (route) => {
    requests.push(route.request().postDataJSON());
    await route.fulfill({ json: { question: requests.at(-1).question, answer: `A boat leaves [${ID} 12-17s].`, answered: true, sources: {}, results: [hit] } });
  });
  await page.goto(`${service.url}/#/search?q=What+leaves%3F&filter.objects=boat&filter.objects=buoy`);
  await page.getByRole("link", { name: "Ask about this" }).press("Enter");
  const question = page.getByLabel("Ask about the footage");
  await expect(question).toHaveValue("What leaves?");
  const chips = page.getByRole("list", { name: "Scope of the question" }).getByRole("button");
  await expect(chips).toHaveText(["Objects: boat ×", "Objects: buoy ×"]);
  await expect(page.locator("#answer")).toBeVisible();
  expect(requests).toEqual([{ question: "What leaves?", video_ids: null, analyzer: null, moment_ids: null, filters: { objects: ["boat", "buoy"] } }]);
  await chips.last().press("Enter");
  await question.press("Enter");
  await expect(page.getByRole("article")).toHaveCount(2);
  await expect(page.locator("#answer")).toBeVisible();
  expect(requests[1]).toMatchObject({ question: "What leaves?", filters: { objects: ["boat"] } });

  await page.getByRole("button", { name: "Ask more about this moment" }).press("Enter");
  await expect(chips).toHaveText(["1 moment from the previous answer ×", "Objects: boat ×"]);
  await question.fill("And when?");
  await question.press("Enter");
  await expect(page.getByRole("article")).toHaveCount(3);
  await expect(page.getByText("A boat leaves ▸ 0:12")).toHaveCount(3);
  expect(requests[2]).toMatchObject({ question: "And when?", moment_ids: [`m_${ID}_12000_17000`] });
  await expect(page.getByRole("button", { name: "Ask more about this moment" })).toHaveCount(0);
  await expect(page).toHaveURL(/moment=m_/);
  for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `a question with a scope at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`scope-${width}.png`) });
  }
  await page.reload();
  await expect(chips).toHaveText(["1 moment from the previous answer ×", "Objects: boat ×"]);
  await page.getByRole("button", { name: "Ask about all moments" }).click();
  await expect(chips).toHaveText(["Objects: boat ×"]);
});
