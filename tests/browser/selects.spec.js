// Selects of a bin: shown by tag and rating, exported as they are shown, tagged, and added to the bin that a
// button names.
import { readFile } from "node:fs/promises";
import { createBinOf, deleteBins, ingest, rows, selectsOf, send, startsOf, tick, toast } from "./bins.js";
import { expect, expectAccessible, test } from "./fixtures.js";
import { sample } from "./service.js";

let id;
test.beforeAll(async ({ service }) => { id = await ingest(service.url); });
// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  await fetch(`${service.url}/videos/${id}`, { method: "DELETE" });
});
test.beforeEach(({ service }) => deleteBins(service));

const createBin = (service, starts, name) => createBinOf(service, id, starts, name);

test("selects are shown by tag and rating, and exported as they are shown", async ({ page, service }) => {
  const bin = await createBin(service, [0, 5, 10, 15]);
  for (const [select, change] of [["s1", { tags: ["boat", "fog"], rating: 5 }], ["s2", { tags: ["fog"] }], ["s3", { tags: ["fog"], rating: 3 }], ["s4", { rating: 4 }]])
    await send(`${service.url}/bins/${bin}/selects/${select}`, "PATCH", change);
  await page.goto(`${service.url}/#/bins/${bin}`);
  await expect(rows(page)).toHaveCount(4);
  const filter = page.getByRole("group", { name: "Selects to show" });
  await filter.getByLabel("Tag").selectOption("fog");
  await expect(rows(page)).toHaveCount(3);
  await expect(filter).toContainText("3 of 4 shown");
  await filter.getByLabel("Rating from").selectOption("3");
  await expect(rows(page)).toHaveCount(2);
  await expectAccessible(page, "selects with a tag and a rating");
  // Rows keep their positions in the bin, and the exports have what is shown.
  await expect(page.getByRole("checkbox", { name: "Choose select 3" })).toBeVisible();
  await page.getByText("Export 2 selects", { exact: true }).click();
  const file = (name) => page.getByRole("link", { name }).getAttribute("href");
  expect(await file("Clip list (CSV)")).toBe(`${service.url}/bins/${bin}/export?format=clips.csv&tag=fog&min_rating=3`);
  expect((await (await fetch(await file("Clip list (CSV)"))).text()).trim().split("\n")).toHaveLength(3);
  // The rating is also chosen in the menu, which stays open.
  await page.locator(".head details[open]").getByLabel("Rating from").selectOption("4");
  await expect(page.getByText("Export 1 select", { exact: true })).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  await page.locator(".head details[open]").getByLabel("Rating from").selectOption("0");
  await page.keyboard.press("Escape");
  await filter.getByRole("button", { name: "Show all" }).click();
  await expect(rows(page)).toHaveCount(4);

  // Ticked selects are exported alone. A tick counts only while its select is shown.
  await tick(page, "Choose select 4");
  await expect(page.getByText("Export 1 select", { exact: true })).toBeVisible();
  await tick(page, "Choose select 1");
  await page.getByText("Export 2 selects", { exact: true }).click();
  for (const [name, path] of [["Video (MP4)", "string-out?"], ["Selects as clips (ZIP)", "clips?"], ["Final Cut Pro (FCPXML)", "export?format=fcpxml&"]])
    expect(await file(name)).toBe(`${service.url}/bins/${bin}/${path}select_ids=s1%2Cs4`);
  const csv = (await (await fetch(await file("Clip list (CSV)"))).text()).trim().split("\n");
  expect(csv.slice(1).map((line) => line.trim().split(",").at(-3))).toEqual(["0.000", "15.000"]);
  await expectAccessible(page, "the export menu of chosen selects", ".head details[open]");
  await page.keyboard.press("Escape");
  await filter.getByLabel("Tag").selectOption("boat");
  await expect(page.getByRole("group", { name: "Actions for the chosen selects" })).toContainText("1 select chosen");
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await expect.poll(() => startsOf(service, bin)).toEqual([5, 10, 15]);
  await expect(page.locator(".selects").getByText("No select has this tag and rating.")).toBeVisible();
});

test("the tag field suggests the tags of the bin", async ({ page, service }) => {
  const bin = await createBin(service, [0, 5, 10]);
  await send(`${service.url}/bins/${bin}/selects/s1`, "PATCH", { tags: ["boats", "b-roll"] });
  await send(`${service.url}/bins/${bin}/selects/s2`, "PATCH", { tags: ["boats", "fog"] });
  await page.goto(`${service.url}/#/bins/${bin}`);
  const row = rows(page).nth(2);
  const suggestions = row.getByRole("group", { name: "Tags in this bin" });
  const tags = async () => (await selectsOf(service, bin))[2].tags;
  await row.getByLabel("Tags", { exact: true }).focus();
  await expect(suggestions.getByRole("button")).toHaveText(["boats", "b-roll", "fog"]);
  await expectAccessible(page, "suggested tags");
  await suggestions.getByRole("button", { name: "fog" }).click();
  await expect.poll(tags).toEqual(["fog"]);
  // By keyboard: Tab saves what is typed, and a suggestion completes it.
  await row.getByLabel("Tags", { exact: true }).fill("fog, bo");
  await expect(suggestions.getByRole("button")).toHaveText(["boats"]);
  await page.keyboard.press("Tab");
  await expect.poll(tags).toEqual(["fog", "bo"]);
  await expect(suggestions.getByRole("button")).toHaveText(["boats"]);
  await page.keyboard.press("Enter");
  await expect.poll(tags).toEqual(["fog", "boats"]);
  // Text that is left is saved, and the suggestions are gone.
  await row.getByLabel("Tags", { exact: true }).fill("fog, new");
  await row.getByLabel("Note").focus();
  await expect.poll(tags).toEqual(["fog", "new"]);
  await expect(suggestions).toHaveCount(0);
});

test("a tag is renamed everywhere, merged, removed and restored", async ({ page, service }) => {
  const bin = await createBin(service, [0, 5, 10]);
  const given = [["fog", "b-roll"], ["fog"], ["mist"]];
  for (const [index, tags] of given.entries()) await send(`${service.url}/bins/${bin}/selects/s${index + 1}`, "PATCH", { tags });
  const tags = async () => (await selectsOf(service, bin)).map((select) => select.tags);
  await page.goto(`${service.url}/#/bins/${bin}`);
  const filter = page.getByRole("group", { name: "Selects to show" });
  const tag = filter.getByRole("combobox", { name: "Tag" });
  await expect(tag.getByRole("option")).toHaveText(["Any tag", "fog (2)", "b-roll (1)", "mist (1)"]);
  await tag.selectOption("fog");
  const rename = async (from, to) => {
    await filter.getByRole("button", { name: `Rename the tag “${from}”` }).click();
    await filter.getByLabel("New name of the tag").fill(to);
    await page.keyboard.press("Enter");
  };
  await rename("fog", "mist");
  await expect(toast(page)).toContainText("“fog” is now “mist” in 2 selects.");
  expect(await tags()).toEqual([["mist", "b-roll"], ["mist"], ["mist"]]);
  await expect(tag).toHaveValue("mist");
  await expect(rows(page)).toHaveCount(3);
  await expect(tag.getByRole("option")).toHaveText(["Any tag", "mist (3)", "b-roll (1)"]);
  await expectAccessible(page, "a renamed tag");
  await toast(page).getByRole("button", { name: "Undo" }).click();
  await expect.poll(tags).toEqual(given);
  await expect(tag).toHaveValue("fog");
  await rename("fog", "");
  await expect(toast(page)).toContainText("“fog” removed in 2 selects.");
  expect(await tags()).toEqual([["b-roll"], [], ["mist"]]);
  await expect(tag).toHaveValue("");
});

test("results are added to a bin at once, with one undo", async ({ page, service }) => {
  const bin = await createBin(service, []);
  await page.addInitScript((last) => localStorage.setItem("shotlog.bin", JSON.stringify(last)), { id: bin, name: "Harbour" });
  await page.goto(`${service.url}/#/search?video=${id}`);
  const hits = page.locator(".hits > li");
  await expect(hits.nth(1)).toBeVisible();
  const count = await hits.count();
  await page.getByRole("button", { name: `Add ${count} moments to bin “Harbour”` }).click();
  await expect(toast(page)).toContainText("Added to “Harbour”.");
  expect(await startsOf(service, bin)).toHaveLength(count);
  await toast(page).getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => startsOf(service, bin)).toEqual([]);
});

test("a button says to which bin it adds, and Shift picks another one", async ({ page, service }) => {
  const [bin, other] = [await createBin(service, []), await createBin(service, [], "Port")];
  await page.addInitScript((last) => localStorage.setItem("shotlog.bin", JSON.stringify(last)), { id: bin, name: "Harbour" });
  await page.goto(`${service.url}/#/videos/${id}?range=3.5-6`);
  const range = page.getByRole("group", { name: "Range" });
  await range.getByRole("button", { name: "Add to bin “Harbour”" }).click({ modifiers: ["Shift"] });
  await page.getByRole("dialog").getByRole("button", { name: "Port" }).click();
  await expect(toast(page)).toContainText("Added to “Port”.");
  expect(await startsOf(service, other)).toEqual([3.5]);
  expect(await startsOf(service, bin)).toEqual([]);
  // A second click removes it again, with an undo.
  const remove = range.getByRole("button", { name: "Remove from bin “Port” again" });
  await remove.click();
  await expect(toast(page)).toContainText("Removed from “Port” again.");
  await expect(range.getByRole("button", { name: "Add to bin “Port”" })).toBeVisible();
  expect(await startsOf(service, other)).toEqual([]);
  await toast(page).getByRole("button", { name: "Undo" }).click();
  await expect(remove).toBeVisible();
  expect(await startsOf(service, other)).toEqual([3.5]);
  // A new name is shown at once, and a bin that is gone is not tried again.
  await page.goto(`${service.url}/#/bins/${other}`);
  await page.getByRole("button", { name: "Rename or describe…" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Quay");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "Quay" }).waitFor();
  await page.goto(`${service.url}/#/search?video=${id}`);
  const add = page.locator(".hits > li").first().getByRole("button", { name: "Add to bin “Quay”" });
  await expect(add).toHaveAttribute("title", "Add to bin “Quay” (B). With Shift: another bin.");
  await fetch(`${service.url}/bins/${other}`, { method: "DELETE" });
  await add.click();
  await expect(toast(page)).toContainText("Bin “Quay” no longer exists.");
  await page.getByRole("dialog").getByRole("button", { name: "Harbour" }).click();
  await expect.poll(() => startsOf(service, bin)).toHaveLength(1);
});

test("the question before a video is deleted says where it is used", async ({ page, service }) => {
  await createBin(service, [0, 5]);
  const bin = await createBin(service, [10], "Port");
  // The same clip with an empty box at its end is another video.
  const bytes = Buffer.concat([await readFile(sample), Buffer.from([0, 0, 0, 8]), Buffer.from("free")]);
  const other = await ingest(service.url, { bytes, name: "other.mp4" });
  await send(`${service.url}/bins/${bin}/selects`, "POST", { selects: [{ video_id: other, start: 0, end: 3 }] });
  const question = page.getByRole("dialog", { name: "Delete this video?" });
  const ask = async (video) => {
    await page.goto(`${service.url}/#/videos/${video}`);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
  };
  await ask(id);
  await expect(question.getByRole("status")).toHaveText("It is used in 2 bins: 3 selects will have no video.");
  await expectAccessible(page, "the question before a used video is deleted");
  await question.getByRole("button", { name: "Cancel" }).click();
  await ask(other);
  await expect(question.getByRole("status")).toHaveText("It is used in 1 bin: 1 select will have no video.");
  await question.getByRole("button", { name: "Delete" }).click();
  await expect(question).toBeHidden();
  // The length of the bin no longer counts it.
  await page.goto(`${service.url}/#/bins`);
  await expect(page.getByRole("listitem").filter({ hasText: "Port" })).toContainText("2 selects · 0:02");
  await page.getByRole("link", { name: "Port" }).click();
  await expect(page.locator(".title")).toContainText("2 selects · 0:02");
});
