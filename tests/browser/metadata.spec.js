// The title, the collection and metadata of a video, edited where they are shown.
import { expect, expectAccessible, test } from "./fixtures.js";
import { addVideo } from "./service.js";

// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

let id;
test.beforeAll(async ({ service }) => {
  id = await addVideo(service.url, { analyzers: "default_video", mode: "interval", interval: "10" });
});

const stored = async (service) => (await fetch(`${service.url}/videos/${id}`)).json();
const heading = (page) => page.getByRole("heading", { level: 1 });

test("a title is edited in place and shown everywhere", async ({ page, service }, testInfo) => {
  await page.goto(`${service.url}/#/videos/${id}`);
  const edit = page.getByRole("button", { name: "Edit title" });
  await edit.press("Enter");
  const field = page.getByRole("textbox", { name: "Title (leave empty for the file name)" });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("shotlog-sample.mp4");
  // Escape discards, and returns the focus.
  await page.keyboard.type("Something else");
  await page.keyboard.press("Escape");
  await expect(field).toHaveCount(0);
  await expect(edit).toBeFocused();
  await expect(heading(page)).toHaveText("shotlog-sample.mp4");

  // After a failure, nothing is lost and the reason is at the field.
  await page.route((url) => url.pathname === `/videos/${id}`, (route) => (route.request().method() === "PATCH"
    ? route.fulfill({ status: 503, json: { detail: "the service is stopping" } }) : route.fallback()));
  await page.keyboard.press("Enter");
  await page.keyboard.type("A day in Port Ellery");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toHaveText("the service is stopping");
  await expect(field).toHaveValue("A day in Port Ellery");
  await expect(field).toHaveAccessibleDescription("the service is stopping");
  for (const [width, colorScheme] of [[390, "dark"], [1280, "light"]]) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expectAccessible(page, `editing at ${width}`);
    await page.screenshot({ path: testInfo.outputPath(`title-${width}.png`) });
  }
  await page.unrouteAll();
  await field.press("Enter");
  await expect(heading(page)).toHaveText("A day in Port Ellery");
  await expect(edit).toBeFocused();
  await expect(page).toHaveTitle("A day in Port Ellery · Shotlog");
  expect((await stored(service)).metadata).toEqual({ title: "A day in Port Ellery" });
  await expect(page.locator("main")).toContainText("shotlog-sample.mp4");

  await page.getByRole("link", { name: "Library" }).click();
  await expect(page.getByRole("link", { name: /^Open A day in Port Ellery/ })).toBeVisible();
  for (const [name, count] of [["port ell", 1], ["shotlog-s", 1], ["xyz", 0]]) {
    await page.getByLabel("Find by name").fill(name);
    await expect(page.getByRole("link", { name: /^Open A day/ })).toHaveCount(count);
  }
  await page.goto(`${service.url}/#/search?video=${id}`);
  await expect(page.locator(".hits .title").first()).toHaveText("A day in Port Ellery");

  // Without a title, the video is called by its file name again.
  await page.goto(`${service.url}/#/videos/${id}`);
  await edit.click();
  await field.fill("");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(heading(page)).toHaveText("shotlog-sample.mp4");
  expect((await stored(service)).metadata).toBeUndefined();
});

test("a title is edited on the card of the library", async ({ page, service }) => {
  await page.goto(service.url);
  const field = page.getByRole("textbox", { name: "Title (leave empty for the file name)" });
  await page.getByRole("button", { name: "Edit the title of shotlog-sample.mp4" }).press("Enter");
  await field.fill("A day in Port Ellery");
  await expectAccessible(page, "a title that is edited in the library");
  await field.press("Enter");
  await expect(page.getByRole("link", { name: /^Open A day in Port Ellery/ })).toBeVisible();
  expect((await stored(service)).metadata).toEqual({ title: "A day in Port Ellery" });
  await page.getByRole("button", { name: "Edit the title of A day in Port Ellery" }).press("Enter");
  await field.fill("");
  await field.press("Enter");
  await expect(page.getByRole("link", { name: /^Open shotlog-sample.mp4/ })).toBeVisible();
});

test("the collection and metadata are added, edited and removed in place", async ({ page, service }) => {
  await page.goto(`${service.url}/#/videos/${id}`);
  await page.getByRole("button", { name: "Add to a collection" }).click();
  await page.getByRole("combobox", { name: "Collection" }).fill("harbour");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Collection: harbour")).toBeVisible();
  const add = page.getByRole("button", { name: "Add details" });
  const field = page.getByRole("textbox", { name: "New detail" });
  await add.click();
  await field.fill("north");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("Write a name, a colon and a value");
  await field.fill("Shot by: Ada");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Shot by: Ada")).toBeVisible();
  await expect(add).toBeFocused();
  await add.click();
  await field.fill("take: 2");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Take: 2")).toBeVisible();
  expect(await stored(service)).toMatchObject({ collection: "harbour", metadata: { shot_by: "Ada", take: 2 } });

  // The service rejects a value of another type.
  await page.getByRole("button", { name: "Edit Take" }).click();
  const take = page.getByRole("textbox", { name: "Take (leave empty to remove)" });
  await take.fill("second");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("take");
  await expect(take).toHaveValue("second");
  await take.fill("3");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Take: 3")).toBeVisible();
  await expectAccessible(page, "metadata");
  await page.reload();
  await page.getByRole("button", { name: "Edit Shot by" }).click();
  await page.keyboard.press("Delete");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Shot by")).toHaveCount(0);
  await page.getByRole("button", { name: "Edit collection" }).click();
  await page.keyboard.press("Delete");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Add to a collection" })).toBeFocused();
  const { collection, metadata } = await stored(service);
  expect([collection, metadata]).toEqual([undefined, { take: 3 }]);
});

test("a session that may only read edits nothing", async ({ page, service }) => {
  const headers = { "Content-Type": "application/json" };
  await fetch(`${service.url}/videos/${id}`, { method: "PATCH", headers, body: JSON.stringify({ metadata: { take: 3 }, collection: "harbour" }) });
  await page.route((url) => url.pathname === "/session", (route) => route.fulfill({ json: { required: true, authenticated: true, read_only: true } }));
  await page.goto(`${service.url}/#/videos/${id}`);
  await expect(page.getByText("Take: 3")).toBeVisible();
  await expect(page.getByText("Collection: harbour")).toBeVisible();
  await expect(page.getByRole("button", { name: /^(Edit|Add) / })).toHaveCount(0);
});
