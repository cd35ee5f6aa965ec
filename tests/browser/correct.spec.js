// Correcting speech, speakers and people.
import { expect, expectAccessible, openTab, test } from "./fixtures.js";
import { longVideo } from "./long-video.js";
import { addVideo } from "./service.js";

test.describe.configure({ mode: "serial" });

// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

const json = async (service, path) => (await fetch(`${service.url}/${path}`)).json();

let id;
const captions = async (service) => (await fetch(`${service.url}/videos/${id}/export?format=vtt`)).text();

test("text and speaker of a turn are corrected in the transcript", async ({ page, service }) => {
  id = await addVideo(service.url, { analyzers: "default_video,diarization", mode: "interval", interval: "10" });
  const { utterances } = await json(service, `videos/${id}/transcript`);
  const [first] = utterances;
  const word = first.text.split(" ").findLast((one) => /^\w{4,}/.test(one)).replace(/\W/g, "");
  await page.goto(`${service.url}/#/videos/${id}/transcript`);
  await page.getByRole("button", { name: /^Correct transcript at/ }).first().click();
  const dialog = page.getByRole("dialog", { name: /Correct transcript/ });
  await expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
  const text = dialog.getByRole("textbox", { name: "Text" });
  await text.fill((await text.inputValue()).replace(word, "Brontosaurus"));
  await dialog.getByRole("combobox", { name: "Speaker" }).fill("Ada Lovelace");
  await expect(dialog.getByRole("radio", { name: /^Everywhere S1 speaks/ })).toBeChecked();
  await expectAccessible(page, "correct what is said");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("region", { name: "Transcript" })).toContainText("Ada Lovelace");
  await expect(page.getByRole("region", { name: "Transcript" })).toContainText("Brontosaurus");
  expect(await captions(service)).toContain("<v Ada Lovelace>");
  expect(await captions(service)).toContain("Brontosaurus");
  const query = { text: "brontosaurus", analyzer: "*", mode: "text" };
  const found = await fetch(`${service.url}/query`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(query),
  });
  expect((await found.json()).results[0].video_id).toBe(id);
});

test("a word is corrected everywhere, and undo restores the original", async ({ page, service }) => {
  await page.goto(`${service.url}/#/videos/${id}`);
  await page.getByRole("searchbox", { name: "Find in transcript" }).fill("Brontosaurus");
  await page.getByRole("button", { name: "Replace", exact: true }).click();
  await page.getByRole("textbox", { name: "Replace with" }).fill("Diplodocus");
  await expectAccessible(page, "replace");
  await page.getByRole("button", { name: "Replace all" }).click();
  await expect(page.getByRole("region", { name: "Transcript" })).toContainText("Diplodocus");
  expect(await captions(service)).toContain("Diplodocus");

  const panel = await openTab(page, "Corrections");
  await expect(panel.getByRole("listitem")).toHaveCount(3);
  await expectAccessible(page, "corrections");
  await panel.getByRole("button", { name: "Undo correction of “Brontosaurus”" }).click();
  await expect(panel.getByRole("listitem")).toHaveCount(2);
  expect(await captions(service)).toContain("Brontosaurus");
  await panel.getByRole("button", { name: "Undo all" }).click();
  await expect(page.getByRole("tab", { name: "Corrections" })).toBeHidden();
  expect(await captions(service)).toContain("<v S1>");
  expect(await captions(service)).not.toContain("Brontosaurus");
});

test("selected words are corrected in place", async ({ page, service }) => {
  const { utterances: [first] } = await json(service, `videos/${id}/transcript`);
  await page.goto(`${service.url}/#/videos/${id}`);
  await page.locator("#transcript .word").first().waitFor();
  await page.locator("#transcript").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("e");
  const field = page.getByRole("textbox", { name: "Corrected words" });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue(first.text.split(" ")[0]);
  await field.fill("Stegosaurus");
  await field.press("Enter");
  await expect(page.locator("#transcript .word").first()).toHaveText(/Stegosaurus/);
  await expect(page.locator("#transcript")).toBeFocused();
  expect(await captions(service)).toContain("Stegosaurus");
});

test("a correction without matches is rejected with a reason", async ({ page, service }) => {
  await page.goto(`${service.url}/#/videos/${id}`);
  const panel = await openTab(page, "Corrections");
  await panel.getByRole("button", { name: "Add correction" }).click();
  const dialog = page.getByRole("dialog", { name: "Correct everywhere" });
  await dialog.getByRole("textbox", { name: "Replace" }).fill("submarine");
  await dialog.getByRole("textbox", { name: "With" }).fill("boat");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("alert")).toContainText("nobody says 'submarine'");
});

test("a person is named in a dialog with a single field", async ({ page, service }) => {
  const long = await longVideo(page);
  const path = (name) => (url) => url.pathname === `/videos/${long}/${name}`;
  const person = { entity_id: `${long}-p1`, description: "A woman in a red coat.", appearances: 1, first_seen: 2, last_seen: 9 };
  const sent = [];
  await page.route(path("aggregates"), (route) => route.fulfill({ json: { available: ["entities"], aggregates: {} } }));
  await page.route(path("entities"), (route) => route.fulfill({ json: { entities: [person] } }));
  await page.route(path("corrections"), (route) => {
    if (route.request().method() === "POST") sent.push(route.request().postDataJSON());
    return route.fulfill({ json: { corrections: [], job_id: null } });
  });
  await page.goto(`${service.url}/#/videos/${long}?tab=people`);
  await page.getByRole("button", { name: "Name Person 1" }).click();
  const dialog = page.getByRole("dialog", { name: "Name Person 1" });
  await expect(dialog).toContainText("A woman in a red coat.");
  await expect(dialog.getByRole("textbox")).toHaveCount(1);
  await expect(dialog.getByRole("combobox")).toHaveCount(0);
  await expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
  await expectAccessible(page, "name a person");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Ada Lovelace");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText("Person 1 is now Ada Lovelace.")).toBeVisible();
  expect(sent).toEqual([{ corrections: [{ of: "person", from: person.entity_id, to: "Ada Lovelace" }] }]);
});

test("unsure words are stepped through and checked, and a chapter is added from a range", async ({ page, service }) => {
  // Without the probabilities of a real recogniser, two words of the second sentence are unsure.
  let second;
  await page.route((url) => url.pathname === `/videos/${id}/transcript`, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    second = body.utterances[1];
    const { corrections } = await json(service, `videos/${id}/corrections`);
    const isChecked = corrections.some((one) => one.from === one.to);
    const unsure = (one, place) => ({ ...one, confidence: !isChecked && place < 2 ? 0.4 : 0.9 });
    second.words = second.words.map(unsure);
    for (const one of body.utterances) if (one !== second) one.words = one.words.map((each) => ({ ...each, confidence: 0.9 }));
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${service.url}/#/videos/${id}`);
  const region = page.getByRole("region", { name: "Transcript" });
  const next = region.getByRole("button", { name: "2 unsure words" });
  await next.click();
  await expect(region.locator(".unsure")).toHaveCount(2);
  await expect(region.locator(".unsure").first()).toHaveClass(/caret/);
  await next.click();
  await expect(region.locator(".unsure").last()).toHaveClass(/caret/);
  await expectAccessible(page, "unsure words");
  await region.getByRole("button", { name: /^Mark the words at .* as checked$/ }).click();
  await expect(page.getByText("Marked as checked.")).toBeVisible();
  await expect(region.getByText("checked", { exact: true })).toHaveCount(1);
  await expect(region.locator(".unsure")).toHaveCount(0);

  const chapters = async () => (await json(service, `videos/${id}/aggregates`)).aggregates.chapters.chapters.map(({ title, start, end }) => [title, start, end]);
  const before = await chapters();
  await page.goto(`${service.url}/#/videos/${id}?range=6.1-11.1`);
  const panel = await openTab(page, "Chapters");
  await panel.getByRole("button", { name: /^New chapter 0:06/ }).click();
  await panel.getByRole("textbox", { name: "Title of a chapter" }).fill("North Gate, two cars");
  await panel.getByRole("button", { name: "Save" }).click();
  await expect(panel.getByText("North Gate, two cars")).toBeVisible();
  const after = await chapters();
  expect(after).toContainEqual(["North Gate, two cars", 6.1, 11.1]);
  expect([after[0][1], after.at(-1)[2]]).toEqual([before[0][1], before.at(-1)[2]]);
});
