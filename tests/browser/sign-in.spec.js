// Signing in, when the service requires a token.
import { expect, expectAccessible, test } from "./fixtures.js";

const TOKEN = "correct-horse-battery-staple";

test.use({ settings: { environment: { SERVICE_AUTH__TOKENS: JSON.stringify([TOKEN]) } } });

test("the page asks for a token, rejects a wrong one and never stores the right one", async ({ page, service }) => {
  await page.goto(service.url);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Library" })).toBeHidden();

  await expectAccessible(page, "sign-in");

  await page.getByLabel("Access token").fill("not the token");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "not accepted" })).toBeVisible();

  await page.getByLabel("Access token").fill(TOKEN);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Library" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeHidden();

  const held = await page.evaluate(() => ({
    cookie: document.cookie, local: localStorage.length, session: sessionStorage.length, html: document.documentElement.outerHTML,
  }));
  expect(held.cookie).toBe("");
  expect([held.local, held.session]).toEqual([0, 0]);
  expect(held.html).not.toContain(TOKEN);

  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
  expect(cookie.value).not.toContain(TOKEN);

  await page.reload();
  await expect(page.getByRole("heading", { name: "Library" })).toBeVisible();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  expect(await page.evaluate(async () => (await fetch("videos")).status)).toBe(401);
});

test("sign-in uses the browser's language", async ({ browser, service }) => {
  const context = await browser.newContext({ locale: "de-DE", colorScheme: "dark", reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(service.url);
  await expect(page.getByRole("heading", { name: "Anmelden" })).toBeVisible();
  await expect(page.getByLabel("Zugangstoken")).toBeVisible();
  await expect(page).toHaveTitle("Anmelden · Shotlog");
  expect(await page.evaluate(() => document.documentElement.dataset.scheme)).toBe("dark");
  await expectAccessible(page, "sign-in in German");
  await context.close();
});

test("the API returns 401 without a token and accepts the header", async ({ service }) => {
  expect((await fetch(`${service.url}/videos`)).status).toBe(401);
  expect((await fetch(`${service.url}/videos`, { headers: { "X-Core-Token": TOKEN } })).status).toBe(200);
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
});
