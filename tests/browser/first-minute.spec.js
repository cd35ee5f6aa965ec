// The first minute with one video: the questions that it answers, and adding the next one by its URL.
import { expect, expectAccessible, test } from "./fixtures.js";
import { addVideo } from "./service.js";

// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

let id;
test.beforeAll(async ({ service }) => {
  id = await addVideo(service.url, { analyzers: "default_video,transcript", mode: "interval", interval: "10" });
});

test("the first video offers questions that it answers", async ({ page, service }) => {
  await page.goto(service.url);
  const questions = page.getByRole("region", { name: "Ask about “shotlog-sample.mp4”" }).getByRole("link");
  await expect(questions).toHaveCount(3);
  await expectAccessible(page, "the first questions");
  const texts = await questions.allInnerTexts();
  for (const question of texts) {
    const answer = await (await fetch(`${service.url}/ask`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ question, video_ids: [id] }),
    })).json();
    expect(answer.answered, question).toBe(true);
  }
  await questions.first().press("Enter");
  await expect(page.getByRole("heading", { level: 2, name: texts[0] })).toBeVisible();
  await expect(page.locator("#answer .answer-text")).toBeVisible();
  // The page for questions offers them, too.
  await page.goto(`${service.url}/#/jobs`);
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await expect(questions).toHaveText(texts);
});

test("a pasted URL is ready to be added", async ({ page, service }) => {
  await page.goto(service.url);
  await expect(page.getByRole("link", { name: /^Open / })).toBeVisible();
  const paste = (text) => page.evaluate((pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
  await paste("some words");
  await expect(page.getByLabel("From a URL")).toHaveCount(0);
  await paste("https://example.org/harbour.mp4");
  await expect(page.getByLabel("From a URL")).toHaveValue("https://example.org/harbour.mp4");
  await expect(page.getByRole("button", { name: "Add", exact: true })).toBeFocused();
});
