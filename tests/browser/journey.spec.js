// One visitor's way through the page: add the sample clip, watch it arrive, play, search, ask, delete.
import AxeBuilder from "@axe-core/playwright";
import { expect, expectPlayingFrom, test, watchSeeks } from "./fixtures.js";
import { sample } from "./service.js";

test.describe.configure({ mode: "serial" });

const tile = (page) => page.getByRole("button", { name: /^Open shotlog-sample\.mp4/ });

test("an empty install says what to do", async ({ page, service }) => {
  await page.goto(service.url);
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  await expect(page.getByText("Ready", { exact: true })).toBeVisible();
});

test("an upload shows its progress and ends as a video in the list", async ({ page, service }) => {
  await page.goto(service.url);
  await page.getByLabel("Choose a file").setInputFiles(sample);
  await expect(page.getByText(/shotlog-sample\.mp4, \d/)).toBeVisible();
  await page.getByText("Options", { exact: true }).click();
  await page.getByLabel("Shortest (s)").fill("3");
  await page.getByRole("button", { name: "Add", exact: true }).click();

  const job = page.getByRole("listitem").filter({ has: page.getByRole("progressbar") });
  await expect(job).toContainText("shotlog-sample.mp4");
  await expect(job).toContainText(/Uploading|Starting|Fetching|Finding the moments|Moments found|Watching|Indexing|Summing up|Waiting/);

  await expect(tile(page)).toBeVisible({ timeout: 500_000 });
  await expect(page.getByRole("heading", { name: "In progress" })).toBeHidden();
  const poster = tile(page).locator("img");
  await expect.poll(() => poster.evaluate((image) => image.complete && image.naturalWidth > 0)).toBe(true);
});

test("a video opens, lists its moments and plays", async ({ page, service }) => {
  await page.goto(service.url);
  await tile(page).click();
  await expect(page.getByRole("heading", { name: "shotlog-sample.mp4" })).toBeVisible();
  await expect.poll(() => page.evaluate(() => Math.round(document.querySelector("video").duration))).toBe(52);

  const { total } = await (await fetch(`${service.url}/videos`)).json()
    .then(({ videos }) => fetch(`${service.url}/videos/${videos[0].video_id}/chunks`))
    .then((answer) => answer.json());
  await page.getByText(/^Every moment/).click();
  await expect(page.locator("#moments > li")).toHaveCount(total);

  await watchSeeks(page);
  const second = page.locator("#moments > li").nth(1).getByRole("button");
  await second.click();
  const start = Number(new URL(page.url()).hash.match(/t=([\d.]+)/)[1]);
  expect(start).toBeGreaterThan(0);
  await expectPlayingFrom(page, start);
});

test("a search hit plays from its second", async ({ page, service }) => {
  await page.goto(service.url);
  await page.getByLabel("Search the footage").fill("a dark street with lamps at night");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  const hits = page.locator("#hits button");
  await expect(hits.first()).toBeVisible();
  await expect(page.getByRole("heading", { name: /^\d+ moments?$/ })).toBeVisible();

  // Not the moment at 0, which a player is at anyway.
  const starts = await hits.evaluateAll((all) => all.map((hit) => Number(hit.dataset.start)));
  const index = starts.findIndex((start) => start > 1);
  expect(index).toBeGreaterThanOrEqual(0);
  await watchSeeks(page);
  await hits.nth(index).click();
  await expectPlayingFrom(page, starts[index]);

  const hash = new URL(page.url()).hash;
  await page.reload();
  await expect(page.getByRole("heading", { name: "shotlog-sample.mp4" })).toBeVisible();
  expect(new URL(page.url()).hash).toBe(hash);
});

test("an answer cites moments, and a citation plays", async ({ page, service }) => {
  await page.goto(service.url);
  await page.getByRole("radio", { name: "Ask" }).check();
  await page.getByLabel("Ask about the footage").fill("What happens in this film?");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const citation = page.locator("#answer .cite").last();
  await expect(citation).toBeVisible({ timeout: 60_000 });
  await expect(page.locator("#answer")).not.toContainText(/\[[0-9a-f]{16} /);

  await watchSeeks(page);
  const start = Number(await citation.getAttribute("data-start"));
  await citation.click();
  await expectPlayingFrom(page, start);
});

test("the page tells what the service refuses", async ({ page, service }) => {
  await page.goto(service.url);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.locator("#add-error")).toContainText("Choose a file or give an address");

  await page.getByLabel("From an address").fill("ftp://example.org/clip.mp4");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.locator("#add-error")).toContainText(/http/i);

  // A loopback address is refused by default, in the job and not in the request.
  await page.getByLabel("From an address").fill(`${service.url}/health`);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const failed = page.getByRole("listitem").filter({ has: page.getByRole("button", { name: "Dismiss" }) });
  await expect(failed).toContainText(/\w+: /);
  await failed.getByRole("button", { name: "Dismiss" }).click();
  await expect(failed).toBeHidden();
});

for (const scheme of ["light", "dark"]) {
  for (const width of [360, 1280]) {
    test(`nothing overflows or is unreadable at ${width} px, ${scheme}`, async ({ page, service }) => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await page.goto(service.url);
      await tile(page).click();
      await expect(page.getByRole("heading", { name: "shotlog-sample.mp4" })).toBeVisible();
      await page.getByLabel("Search the footage").fill("boat");
      await page.getByRole("button", { name: "Search", exact: true }).click();
      await expect(page.locator("#hits button").first()).toBeVisible();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]).exclude("video").analyze();
      expect(violations.map((found) => `${found.id}: ${found.nodes.map((node) => node.target).join(", ")}`)).toEqual([]);
    });
  }
}

test("a video is deleted after a question, and only then", async ({ page, service }) => {
  await page.goto(service.url);
  await tile(page).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("shotlog-sample.mp4");
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await expect(dialog).toBeHidden();
  await expect(tile(page)).toBeVisible();

  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("Nothing here yet")).toBeVisible();
  expect((await (await fetch(`${service.url}/videos`)).json()).videos).toEqual([]);
});
