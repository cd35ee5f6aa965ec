// Following and cancelling a job, over an address that gives nothing until it is told to.
import { createServer } from "node:http";
import { expect, expectAccessible, test } from "./fixtures.js";

test.use({ settings: { environment: { SERVICE_FETCH__ALLOW_PRIVATE: "true" } } });

let held;
let server;
let address;
test.beforeEach(async () => {
  held = [];
  server = createServer((request, answer) => { held.push(answer); });
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  address = `http://127.0.0.1:${server.address().port}/clip.mp4`;
});
test.afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function add(page) {
  await page.getByLabel("From an address").fill(address);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const job = page.getByRole("listitem").filter({ hasText: address });
  await expect(job).toContainText("Fetching");
  await expect.poll(() => held.length).toBe(1);
  return job;
}

test("a job is followed by its events and cancelled", async ({ page, service }) => {
  const events = page.waitForRequest((request) => /\/jobs\/\w+\/events$/.test(new URL(request.url()).pathname));
  await page.goto(service.url);
  const job = await add(page);
  await events;
  await expectAccessible(page, "running");
  await job.getByRole("button", { name: /^Cancel / }).click();
  await expect(job).toContainText("cancelled");
  await expect(job).toContainText("Cancelled: ");
  await expect(job.getByRole("button", { name: "Try again" })).toBeVisible();
  const { jobs } = await (await fetch(`${service.url}/jobs`)).json();
  expect(jobs.find(({ source }) => source === address).status).toBe("failed");
});

test("the events alone tell how a job ends", async ({ page, service }) => {
  await page.goto(service.url);
  const job = await add(page);
  const before = await (await fetch(`${service.url}/jobs`)).json();
  await page.route((url) => url.pathname === "/jobs", (route) => route.fulfill({ json: before }));
  held[0].writeHead(404).end();
  await expect(job).toContainText(/\w+Error: /);
});

test("a job whose events do not come is asked about instead", async ({ page, service }) => {
  await page.route((url) => url.pathname.endsWith("/events"), (route) => route.fulfill({ status: 404, json: { detail: "not here" } }));
  await page.goto(service.url);
  const job = await add(page);
  held[0].writeHead(404).end();
  await expect(job).toContainText(/\w+Error: /);
  await expect(job.getByRole("button", { name: "Try again" })).toBeVisible();
});
