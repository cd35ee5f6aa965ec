// An analyzer and an aggregator that the page does not know: those of examples/own_aggregator.
import { existsSync } from "node:fs";
import { expect, expectAccessible, expectPlayingFrom, openTab, test, watchSeeks } from "./fixtures.js";
import { example, sample } from "./service.js";

test.skip(!existsSync(example), `${example} does not exist; cargo build --example own_aggregator`);
test.use({ settings: { clip: sample } });

test("have names, lanes and panels in a video", async ({ page, service }) => {
  await page.goto(service.url);
  await expect(page.getByText("Scenes, Brightness").or(page.getByText("Brightness, Scenes"))).toBeVisible();
  await page.getByRole("link", { name: /^Open / }).click();
  const lanes = page.getByRole("list", { name: "Lanes" });
  await expect(lanes.getByText("Brightness", { exact: true })).toBeVisible();
  await expect(lanes.getByText("Darkest moment", { exact: true })).toBeVisible();

  const panel = await openTab(page, "Brightness");
  await expect(page).toHaveURL(/tab=output-brightness$/);
  await expect(panel.getByRole("button").first()).toHaveText(/percent \d+ · level (dark|dim|bright|glaring)/);
  await expectAccessible(page, "the panel of an analyzer");
  await watchSeeks(page);
  const second = panel.getByRole("button").nth(1);
  const start = Number(await second.getAttribute("data-start"));
  await second.click();
  await expectPlayingFrom(page, start);

  await openTab(page, "More");
  await expect(panel.getByRole("heading")).toHaveText(["Darkest moment"]);
  await expect(panel.getByRole("button")).toHaveText(/percent\s+\d+/);
});

test("have a lane that can be hidden", async ({ page, service }) => {
  await page.goto(service.url);
  await page.getByRole("link", { name: /^Open / }).click();
  const lanes = page.getByRole("list", { name: "Lanes" });
  await page.getByText("Lanes", { exact: true }).click();
  for (const name of ["Brightness", "Darkest moment"]) {
    await expect(lanes.getByText(name, { exact: true })).toBeVisible();
    await page.getByRole("checkbox", { name, exact: true }).uncheck();
    await expect(lanes.getByText(name, { exact: true })).toHaveCount(0);
  }
});

test("are filters of the library, of searches and of questions", async ({ page, service }) => {
  await page.goto(service.url);
  await expect(page.getByRole("option", { name: "Brightness (1)" })).toBeAttached();
  for (const path of ["search", "ask"]) {
    await page.goto(`${service.url}/#/${path}`);
    await expect(page.getByRole("option", { name: "Brightness" })).toBeAttached();
  }
  await page.goto(`${service.url}/#/search?q=dark+picture&analyzer=brightness`);
  await expect(page.getByText(/The picture is (dark|dim|bright|glaring)/).first()).toBeVisible();
});
