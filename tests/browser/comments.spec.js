// The comments on a video: written, changed, deleted, and read by others.
import { expect, expectAccessible, openTab, test } from "./fixtures.js";
import { addVideo, startService } from "./service.js";

const ingest = (url, headers) => addVideo(url, { analyzers: "default_video", mode: "interval", interval: "10" }, { headers });

// Other spec files share the service and expect it to be empty.
test.afterAll(async ({ service }) => {
  const { videos } = await (await fetch(`${service.url}/videos`)).json();
  for (const { video_id: each } of videos) await fetch(`${service.url}/videos/${each}`, { method: "DELETE" });
});

const entries = (page) => page.getByRole("tabpanel").getByRole("listitem");

async function openComments(page, service, id) {
  await page.goto(`${service.url}/#/videos/${id}`);
  return openTab(page, "Comments");
}

for (const [width, colorScheme] of [[1280, "light"], [390, "dark"]]) {
  test.describe(`at ${width} px, ${colorScheme}`, () => {
    test.use({ viewport: { width, height: 800 }, colorScheme, contextOptions: { reducedMotion: "reduce" } });

    test("comments are written, changed and deleted", async ({ page, service }) => {
      const id = await ingest(service.url);
      const panel = await openComments(page, service, id);
      await expect(panel.getByText("No comments yet.")).toBeVisible();
      await panel.getByRole("textbox", { name: "Comment" }).fill("Is this the harbour?");
      await panel.getByLabel("Your name (optional)").fill("Ada");
      await panel.getByRole("button", { name: "Comment at 0:00" }).click();
      await expect(entries(page)).toContainText("Is this the harbour?");
      await expect(entries(page)).toContainText("Ada");
      await expect(page.getByRole("list", { name: "Lanes" })).toContainText("Comments");

      await page.goto(`${service.url}/#/videos/${id}?range=2-4&tab=comments`);
      await panel.getByRole("textbox", { name: "Comment" }).fill("For the range");
      await panel.getByRole("button", { name: "Comment at 0:02–0:04" }).click();
      await expect(entries(page)).toHaveCount(2);
      await expectAccessible(page, "comments", "#panel");
      await panel.getByRole("button", { name: "Go to 0:02–0:04" }).click();
      await expect.poll(() => page.evaluate(() => document.querySelector("video").currentTime)).toBeGreaterThanOrEqual(2);

      await panel.getByRole("button", { name: "Edit the comment of Ada at 0:00" }).click();
      await entries(page).first().getByRole("textbox").fill("This is the harbour.");
      await panel.getByRole("button", { name: "Save" }).click();
      await expect(entries(page).first()).toContainText("This is the harbour.");
      await expect(entries(page).first()).toContainText("edited");
      await panel.getByRole("button", { name: "Reply to the comment of Ada at 0:00" }).click();
      await entries(page).first().getByRole("textbox").fill("It is.");
      await panel.getByRole("button", { name: "Save" }).click();
      await expect(panel.getByRole("list", { name: "Replies" })).toContainText("It is.");
      await panel.getByRole("list", { name: "Replies" }).getByRole("button", { name: "Delete the comment of Ada at 0:00" }).click();
      const question = page.getByRole("dialog", { name: "Delete this comment permanently?" });
      await question.getByRole("button", { name: "Delete" }).click();
      await expect(entries(page)).toHaveCount(2);
      const remove = panel.getByRole("button", { name: "Delete the comment of Ada at 0:02–0:04" });
      await remove.click();
      await expectAccessible(page, "the question before a comment is deleted", "dialog");
      await question.getByRole("button", { name: "Cancel" }).click();
      await expect(question).toHaveCount(0);
      await expect(entries(page)).toHaveCount(2);
      await remove.click();
      await question.getByRole("button", { name: "Delete" }).click();
      await expect(entries(page)).toHaveCount(1);
      const { comments } = await (await fetch(`${service.url}/videos/${id}/comments`)).json();
      expect(comments.map(({ text, author, start }) => [text, author, start])).toEqual([["This is the harbour.", "Ada", 0]]);

      await panel.getByRole("link", { name: "Newest comments" }).click();
      await expect(page).toHaveTitle("Newest comments · Shotlog");
      const newest = page.getByRole("listitem").filter({ hasText: "This is the harbour." });
      await expect(newest).toContainText("Ada");
      await expectAccessible(page, "the newest comments");
      await newest.getByRole("link", { name: "shotlog-sample.mp4 · 0:00" }).click();
      await expect(entries(page)).toContainText("This is the harbour.");
      await fetch(`${service.url}/videos/${id}/comments/${comments[0].comment_id}`, { method: "DELETE" });
    });
  });
}

test("comments are settled, folded and opened again", async ({ page, service }) => {
  const id = await ingest(service.url);
  const write = async (body) => (await fetch(`${service.url}/videos/${id}/comments`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  })).json();
  const { comment_id: first } = await write({ start: 0, text: "Wrong take?", author: "Ada" });
  await write({ reply_to: first, text: "Replaced.", author: "Bo" });
  await write({ start: 5, text: "Louder, please", author: "Ada" });
  await page.addInitScript(() => localStorage.setItem("shotlog.author", JSON.stringify("Cleo")));
  const panel = await openComments(page, service, id);
  // Replies are settled with their comment.
  await expect(panel.getByRole("button", { name: "Settle", exact: true })).toHaveCount(2);
  await panel.getByRole("button", { name: "Settle", exact: true }).first().click();
  const folded = panel.getByRole("button", { name: /^0:00 · Settled by Cleo, / });
  await expect(folded).toHaveAttribute("aria-expanded", "false");
  await expect(panel.getByText("Wrong take?")).toHaveCount(0);
  await expect(panel.getByText("Replaced.")).toHaveCount(0);
  await expectAccessible(page, "a settled comment", "#panel");
  await page.screenshot({ path: test.info().outputPath("settled.png") });
  const { comments } = await (await fetch(`${service.url}/videos/${id}/comments`)).json();
  expect(comments.map(({ text, settled_by: by }) => [text, by])).toEqual([["Wrong take?", "Cleo"], ["Replaced.", undefined], ["Louder, please", undefined]]);

  const onlyOpen = panel.getByRole("button", { name: "Only open ones (1 of 2)" });
  await onlyOpen.click();
  await expect(folded).toHaveCount(0);
  await expect(panel.getByText("Louder, please")).toBeVisible();
  await onlyOpen.click();
  await folded.press("Enter");
  await expect(panel.getByRole("list", { name: "Replies" })).toContainText("Replaced.");
  await page.goto(`${service.url}/#/activity`);
  await expect(page.getByRole("listitem").filter({ hasText: "Wrong take?" })).toContainText("Settled by Cleo");

  await openComments(page, service, id);
  await folded.click();
  await panel.getByRole("button", { name: "Reopen", exact: true }).click();
  await expect(panel.getByText("Wrong take?")).toBeVisible();
  await expect(onlyOpen).toHaveCount(0);
  await expect(panel.getByRole("button", { name: "Settle", exact: true })).toHaveCount(2);
});

test("comments of others are counted in the header until their list is visited", async ({ page, service }) => {
  const id = await ingest(service.url);
  const post = async (body) => (await fetch(`${service.url}/videos/${id}/comments`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  })).json();
  await page.clock.install();
  // What other tests have written is seen.
  await page.goto(`${service.url}/#/activity`);
  const link = (name) => page.getByRole("banner").getByRole("link", { name, exact: true });
  await expect(link("Newest comments")).toHaveAttribute("aria-current", "page");
  // The times of comments have no fractions of a second.
  const second = () => Math.floor(Date.now() / 1000);
  const start = second();
  await expect.poll(second).toBeGreaterThan(start);
  const { comment_id: settled } = await post({ start: 0, text: "Which take is this?", author: "Bo" });
  await fetch(`${service.url}/videos/${id}/comments/${settled}`, {
    method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ settled: true }),
  });
  await post({ start: 5, text: "Too dark here", author: "Bo" });
  await page.goto(`${service.url}/#/videos/${id}`);
  const panel = await openTab(page, "Comments");
  await panel.getByRole("textbox", { name: "Comment" }).fill("My own note");
  await panel.getByRole("button", { name: "Comment at 0:00" }).click();
  await expect(panel.getByText("My own note")).toBeVisible();
  await page.clock.runFor(61_000);
  await expect(link("Newest comments, 1 unread")).toBeVisible();
  await page.setViewportSize({ width: 390, height: 800 });
  await expectAccessible(page, "the header with new comments", "header");
  await page.screenshot({ path: test.info().outputPath("new-comments-390.png") });
  await link("Newest comments, 1 unread").click();
  await expect(page.getByRole("listitem").filter({ hasText: "Too dark here" })).toBeVisible();
  await expect(link("Newest comments")).toBeVisible();
});

test("the author is the name of the token, and others may only read", async ({ browser }) => {
  const tokens = '["all-of-it", { token = "writes", name = "Ada" }, { token = "reads", read_only = true }]';
  const service = await startService({ environment: { SERVICE_AUTH__TOKENS: tokens } });
  try {
    const id = await ingest(service.url, { Authorization: "Bearer all-of-it" });
    const signIn = async (token) => {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${service.url}/#/videos/${id}`);
      await page.getByLabel("Access token").fill(token);
      await page.getByRole("button", { name: "Sign in" }).click();
      return [page, await openTab(page, "Comments")];
    };
    const [writer, panel] = await signIn("writes");
    await expect(panel.getByLabel("Your name (optional)")).toHaveCount(0);
    await panel.getByRole("textbox", { name: "Comment" }).fill("A boat");
    await panel.getByRole("button", { name: "Comment at 0:00" }).click();
    await expect(entries(writer)).toContainText("Ada");
    const [reader, readPanel] = await signIn("reads");
    await expect(entries(reader)).toContainText("A boat");
    await expect(readPanel.getByRole("textbox")).toHaveCount(0);
    await expect(readPanel.getByRole("button", { name: /^(Edit|Delete|Settle)/ })).toHaveCount(0);
    await writer.context().close();
    await reader.context().close();
  } finally {
    await service.stop();
  }
});
