// API-only mode without the page, and the page's content security policy.
import { expect, test } from "./fixtures.js";
import { startService } from "./service.js";

test("API-only mode has no page", async () => {
  const service = await startService({ flags: ["--api-only"] });
  try {
    expect((await fetch(service.url)).status).toBe(404);
    expect((await (await fetch(`${service.url}/health`)).json()).ui).toBe(false);
    expect((await fetch(`${service.url}/videos`)).status).toBe(200);
  } finally {
    await service.stop();
  }
});

test("the content security policy blocks inline and foreign scripts", async ({ service }) => {
  const answer = await fetch(service.url);
  const policy = answer.headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  expect(await answer.text()).not.toMatch(/\sstyle=|\son\w+=|<style/);
});
