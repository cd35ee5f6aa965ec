// People with a name across videos: the list, the page of a person, the command field, and naming people.
import { readFile } from "node:fs/promises";
import { expect, expectAccessible, menuButton, openTab, test } from "./fixtures.js";
import { longVideo } from "./long-video.js";
import { addVideo, sample } from "./service.js";

const json = async (url, init) => (await fetch(url, init)).json();
const send = (url, method, body) => json(url, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const ingest = (url, bytes, name) => addVideo(url, { analyzers: "diarization", mode: "interval", interval: "10" }, { bytes, name });

const speakersOf = async (url, id) => {
  const { utterances } = await json(`${url}/videos/${id}/transcript`);
  return [...new Set(utterances.map(({ speaker }) => speaker))].sort();
};
const name = (url, id, from, to) => send(`${url}/videos/${id}/corrections?aggregate=false`, "POST", { corrections: [{ of: "speaker", from, to }] });

test.describe("people with a name", () => {
  test.describe.configure({ mode: "serial" });

  let sampleId;
  let part;
  test.beforeAll(async ({ service }) => {
    test.setTimeout(400_000);
    sampleId = await ingest(service.url, await readFile(sample), "town.mp4");
    const clip = await fetch(`${service.url}/videos/${sampleId}/clip?start=0&end=30`);
    part = await ingest(service.url, await clip.arrayBuffer(), "part.mp4");
  });
  // Other spec files share the service and expect it to be empty.
  test.afterAll(async ({ service }) => {
    for (const { video_id: each } of (await json(`${service.url}/videos`)).videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
    for (const { bin_id: each } of (await json(`${service.url}/bins`)).bins) await fetch(`${service.url}/bins/${each}`, { method: "DELETE" });
  });

  test("the empty page says how to name somebody", async ({ page, service }) => {
    await page.goto(service.url);
    await page.getByRole("link", { name: "People", exact: true }).click();
    await expect(page).toHaveTitle("People · Shotlog");
    await expect(page.getByRole("heading", { name: "No names yet" })).toBeVisible();
    await expect(page.getByText("under People, or a speaker in the transcript")).toBeVisible();
    await expectAccessible(page, "no people");
    await page.goto(`${service.url}/#/persons/Nobody`);
    await expect(page.getByRole("alert")).toContainText("no correction names a person 'Nobody'");
  });

  test("people are listed with every appearance across videos", async ({ page, service }, testInfo) => {
    const { url } = service;
    const speakers = await speakersOf(url, sampleId);
    expect(speakers.length).toBeGreaterThan(1);
    await name(url, sampleId, speakers[0], "Ada Lovelace");
    await name(url, sampleId, speakers[1], "Bob");
    await name(url, part, (await speakersOf(url, part))[0], "ada lovelace");
    await page.goto(`${url}/#/persons`);
    const cards = page.getByRole("main").getByRole("listitem");
    await expect(cards).toHaveCount(2);
    await expect(cards.first()).toContainText("Ada Lovelace");
    await expect(cards.first()).toContainText("2 videos");
    await expect(cards.first()).toContainText("speaks for");
    for (const [width, colorScheme] of [[390, "dark"], [1280, "light"]]) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await expectAccessible(page, `people at ${width}`);
      await page.screenshot({ path: testInfo.outputPath(`people-${width}.png`) });
    }
    await page.getByLabel("Find a name").fill("bo");
    await expect(cards).toHaveCount(1);
    await expect(page).toHaveURL(/#\/persons\?name=bo$/);
    await page.getByLabel("Find a name").fill("nobody");
    await expect(page.getByText("No matching names.")).toBeVisible();
    await page.getByLabel("Find a name").fill("");
    await expect(cards).toHaveCount(2);
    // By keyboard: from the field to the first card.
    await page.keyboard.press("Tab");
    await expect(cards.first().getByRole("link")).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/#\/persons\/Ada%20Lovelace$/);
    await expect(page.getByRole("heading", { level: 1, name: "Ada Lovelace" })).toBeVisible();
    await expect(page.getByRole("heading", { level: 2 })).toHaveText(["part.mp4", "town.mp4"]);
    for (const [width, colorScheme] of [[390, "dark"], [1280, "light"]]) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await expectAccessible(page, `a person at ${width}`);
      await page.screenshot({ path: testInfo.outputPath(`person-${width}.png`) });
    }
    const { appearances } = await json(`${url}/people/ada%20lovelace`);
    const rows = page.getByRole("main").getByRole("listitem");
    await expect(rows).toHaveCount(appearances.length);
    // An appearance is added to a bin like any moment.
    await send(`${url}/bins`, "POST", { name: "Voices" });
    await menuButton(rows.first()).press("Enter");
    await rows.first().getByRole("menuitem", { name: "Add to bin" }).click();
    await page.getByRole("dialog").getByRole("button", { name: /Voices/ }).click();
    await expect(page.locator(".toast")).toContainText("Added to “Voices”.");
    // And opens its video at its time.
    await rows.first().getByRole("link", { name: /^Speaking in part\.mp4 at / }).press("Enter");
    await expect(page).toHaveURL(new RegExp(`#/videos/${part}\\?t=`));
  });

  test("the command field finds a person, and a removed name is gone", async ({ page, service }) => {
    await page.goto(service.url);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Go to or search" });
    await field.pressSequentially("lovela");
    const option = page.getByRole("dialog").getByRole("option", { name: /Ada Lovelace/ });
    await expect(option).toContainText("2 videos");
    await option.click();
    await expect(page).toHaveURL(/#\/persons\/Ada%20Lovelace$/);
    // A new name holds in all videos.
    await page.getByRole("button", { name: "Rename" }).click();
    await expectAccessible(page, "renaming a person", "dialog");
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Ada King");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.locator(".toast")).toContainText("Ada Lovelace is now Ada King, in 2 videos.");
    await expect(page).toHaveURL(/#\/persons\/Ada%20King$/);
    await expect(page.getByRole("heading", { level: 1, name: "Ada King" })).toBeVisible();
    await expect(page.getByRole("heading", { level: 2 })).toHaveText(["part.mp4", "town.mp4"]);
    for (const id of [sampleId, part]) await fetch(`${service.url}/videos/${id}/corrections?aggregate=false`, { method: "DELETE" });
    await page.getByRole("link", { name: "All people" }).click();
    await expect(page.getByRole("heading", { name: "No names yet" })).toBeVisible();
  });
});

test("several people of a video get one name, and others are counted", async ({ page, service }) => {
  const long = await longVideo(page);
  const path = (end) => (url) => url.pathname === `/videos/${long}/${end}`;
  const person = (number, given) => ({ entity_id: `${long}-p${number}`, description: `Coat ${number}.`, appearances: 1, first_seen: 2, last_seen: 9, ...given });
  const sent = [];
  const cleo = { id: "c1", of: "person", from: `${long}-p3`, to: "Cleo", start: null, end: null, created_at: "2026-11-29T12:00:00Z", places: 1, spans: [[2, 9]] };
  await page.route(path("aggregates"), (route) => route.fulfill({ json: { available: ["entities"], aggregates: { entities: { unlinked: 3 } } } }));
  await page.route(path("entities"), (route) => route.fulfill({ json: { entities: [person(1), person(2), person(3, { name: "Cleo" })] } }));
  await page.route(path("corrections"), (route) => {
    if (route.request().method() === "POST") sent.push(route.request().postDataJSON());
    return route.fulfill({ json: { corrections: [cleo], job_id: null } });
  });
  const removed = [];
  await page.route((url) => url.pathname.startsWith(`/videos/${long}/corrections/`), (route) => {
    removed.push(new URL(route.request().url()).pathname.split("/").at(-1));
    return route.fulfill({ json: { corrections: [], job_id: null } });
  });
  await page.route((url) => url.pathname === "/people", (route) => route.fulfill({ json: { people: [{ name: "Ada Lovelace" }], total: 1 } }));
  await page.goto(`${service.url}/#/videos/${long}`);
  const panel = await openTab(page, "People");
  await expect(panel.getByRole("listitem")).toHaveCount(3);
  await expect(panel.getByText("Also seen: 3 appearances of people who cannot be identified.")).toBeVisible();
  await expect(panel.getByRole("link", { name: "Cleo" })).toHaveAttribute("href", "#/persons/Cleo");
  await expect(panel.getByRole("button", { name: /^Name 2 people/ })).toHaveCount(0);
  await panel.getByLabel("Select Person 1").focus();
  await page.keyboard.press("Space");
  await panel.getByLabel("Select Person 2").press("Space");
  await expectAccessible(page, "selected people", "#panel");
  await panel.getByRole("button", { name: "Name 2 people" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Name 2 people" });
  await expect(dialog).toContainText("Coat 1.");
  await expect(dialog).toContainText("Coat 2.");
  await dialog.getByRole("combobox", { name: "Name" }).fill("Ada Lovelace");
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  const names = [1, 2].map((number) => ({ of: "person", from: `${long}-p${number}`, to: "Ada Lovelace" }));
  expect(sent).toEqual([{ corrections: names }]);
  await expect(page.getByText("2 people are now Ada Lovelace.")).toBeVisible();
  // The toast undoes it.
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Original restored.")).toBeVisible();
  // A name that was given to the wrong person is removed.
  await panel.getByRole("button", { name: "Name Cleo" }).click();
  const named = page.getByRole("dialog", { name: "Name Cleo" });
  await expect(named.locator("#known-names option")).toHaveAttribute("value", "Ada Lovelace");
  await expectAccessible(page, "a name that can be removed", "dialog[open]");
  await named.getByRole("button", { name: "Remove “Cleo” from Person 3" }).click();
  await expect(named).toBeHidden();
  expect(removed).toEqual(["c1", "c1"]);
});

test("a person is looked for in other videos by picture, and named there", async ({ page, service }) => {
  const [long, other] = [await longVideo(page), "feedfacefeedface"];
  const pixel = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  const person = (id, given) => ({ entity_id: id, description: "A coat.", appearances: 1, first_seen: 2, last_seen: 9, ...given });
  const route = (path, answer) => page.route((url) => url.pathname === path, (call) => call.fulfill(answer(call.request())));
  await route(`/videos/${long}/aggregates`, () => ({ json: { available: ["entities"], aggregates: { entities: {} } } }));
  await route(`/videos/${long}/entities`, () => ({ json: { entities: [person("p1", { name: "Cleo" })] } }));
  await route(`/videos/${long}/corrections`, () => ({ json: { corrections: [], job_id: null } }));
  await route(`/videos/${long}/entities/p1/image`, () => ({ body: pixel, contentType: "image/png" }));
  const video = (video_id, filename) => ({ video_id, filename, video_url: "", poster_url: null, duration: 60, chunks: 6, chunk_config: "", analyzers: [] });
  await route("/videos", () => ({ json: { videos: [video(long, "long.mp4"), video(other, "quay.mp4")], total: 2 } }));
  const sent = [];
  const hit = (start) => ({ video_id: other, chunk_id: start / 10, start, end: start + 10, timecode: "", score: 0.8, description: "A coat.", objects: [], tags: [], turns: [] });
  await route("/query", (request) => {
    sent.push(request.postDataJSON());
    return { json: { answer: null, results: [hit(0), hit(30)] } };
  });
  const made = [];
  await route(`/videos/${other}/entities`, () => ({ json: { entities: [person("q1"), person("q2", { first_seen: 31, last_seen: 35 }), person("q3", { first_seen: 31, last_seen: 39 })] } }));
  await route(`/videos/${other}/corrections`, (request) => {
    made.push(request.postDataJSON());
    return { json: { corrections: [{ id: "c7" }], job_id: null } };
  });
  const removed = [];
  await route(`/videos/${other}/corrections/c7`, (request) => {
    removed.push(request.method());
    return { json: { corrections: [], job_id: null } };
  });

  await page.goto(`${service.url}/#/videos/${long}`);
  await openTab(page, "People");
  await page.getByRole("button", { name: "Look for in other videos" }).click();
  const criteria = page.getByRole("list", { name: "Search criteria" }).getByRole("button");
  await expect(criteria).toHaveText([/Cleo ×/, "other videos ×"]);
  await expect(page.locator(".hits > li")).toHaveCount(2);
  expect(sent).toMatchObject([{ field: "visual", video_ids: [other], image: `data:image/png;base64,${pixel.toString("base64")}` }]);
  await expectAccessible(page, "a person who is looked for");
  const name = async (index) => {
    const row = page.locator(".hits > li").nth(index);
    await menuButton(row).press("Enter");
    await row.getByRole("menuitem", { name: "This is Cleo" }).click();
  };
  await name(0);
  await expect(page.locator(".toast")).toContainText("The person in this moment is now Cleo.");
  expect(made).toEqual([{ corrections: [{ of: "person", from: "q1", to: "Cleo" }] }]);
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => removed).toEqual(["DELETE"]);
  // Of several people, the user names one in the video.
  await name(1);
  await expect(page.locator(".toast")).toContainText("It is not clear who is meant.");
  await expect(page.locator(".toast").getByRole("link", { name: "Open video" })).toHaveAttribute("href", `#/videos/${other}?t=30&until=40&tab=people`);
  expect(made).toHaveLength(1);
  await criteria.last().click();
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect.poll(() => sent.at(-1).video_ids).toBeNull();
});
