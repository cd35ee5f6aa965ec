// What a reader chooses for their browser: how the page looks, its language, how times are written.
import { expect, expectAccessible, test } from "./fixtures.js";

const scheme = (page) => page.evaluate(() => document.documentElement.dataset.scheme);
const settings = (service) => `${service.url}/#/settings`;

test("the appearance follows the system, or what is chosen, and is remembered", async ({ page, service }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(service.url);
  await page.getByRole("link", { name: "Settings" }).click();
  await expect(page).toHaveTitle("Settings · Shotlog");
  await expect(page.getByRole("radio", { name: "As the system" })).toBeChecked();
  expect(await scheme(page)).toBe("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(() => scheme(page)).toBe("light");

  await page.getByRole("radio", { name: "Dark" }).check();
  expect(await scheme(page)).toBe("dark");
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(await back()).toBe("rgb(15, 17, 20)");
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("dark");
  // It is there before the page's own script is: nothing flashes.
  await page.route("**/app.js", (one) => one.abort());
  await page.reload();
  expect(await scheme(page)).toBe("dark");
  expect(await back()).toBe("rgb(15, 17, 20)");
  await page.unrouteAll();
  await page.reload();
  await expect(page.getByRole("radio", { name: "Dark" })).toBeChecked();
});

test("the language is that of the browser until one is chosen, which is remembered", async ({ browser, service }) => {
  const context = await browser.newContext({ locale: "de-AT" });
  const page = await context.newPage();
  const german = page.waitForResponse((answer) => answer.url().endsWith("/de.js"));
  await page.goto(service.url);
  await german;
  await expect(page.getByRole("link", { name: "Mediathek", exact: true })).toBeVisible();
  await expect(page).toHaveTitle("Mediathek · Shotlog");
  expect(await page.evaluate(() => document.documentElement.lang)).toBe("de");

  await page.goto(settings(service));
  const language = page.getByLabel("Sprache");
  await expect(language).toHaveValue("");
  await expect(language.getByRole("option", { name: "Wie der Browser (Deutsch)" })).toBeAttached();
  await language.selectOption("en");
  await expect(page.getByRole("heading", { name: "Settings" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Settings" })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.lang)).toBe("en");
  await context.close();
});

test("English is read without the words of another language", async ({ page, service }) => {
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(service.url);
  await expect(page.getByRole("heading", { name: "Library" })).toBeVisible();
  expect(asked).toContain("/app.js");
  expect(asked).not.toContain("/de.js");
});

test("times are written as chosen, and the keys are listed", async ({ page, service }) => {
  await page.goto(settings(service));
  await page.getByLabel("Times as").selectOption("frames");
  await page.reload();
  await expect(page.getByLabel("Times as")).toHaveValue("frames");

  const keys = page.getByRole("region", { name: "Keys" });
  await expect(keys).toContainText("Play and pause");
  await expect(keys.locator("kbd").filter({ hasText: "Space" })).toBeVisible();
  const listed = await keys.locator("dd").allTextContents();
  await page.getByRole("heading", { name: "Settings" }).press("?");
  const help = page.getByRole("dialog");
  await expect(help).toBeVisible();
  expect(await help.locator("dd").allTextContents()).toEqual(listed);
});

for (const [width, colorScheme] of [[360, "dark"], [1280, "light"], [1920, "dark"]]) {
  test(`the settings are readable at ${width} px, ${colorScheme}`, async ({ page, service }, testInfo) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.goto(settings(service));
    await expect(page.getByLabel("Language")).toBeVisible();
    await expectAccessible(page, `settings ${width} ${colorScheme}`);
    await page.screenshot({ path: testInfo.outputPath("settings.png"), fullPage: true });
  });
}
