// Tests the web page in Debian's Chromium against the real binary, SHOTLOG_BINARY. A JUnit report is
// written to PLAYWRIGHT_JUNIT_OUTPUT_FILE.
import { defineConfig } from "@playwright/test";
import { browser } from "./service.js";

export default defineConfig({
  testDir: ".",
  outputDir: "../../var/browser-tests",
  workers: 2,
  forbidOnly: true,
  timeout: 600_000,
  // A service that has just started loads its models with the first search, which takes long on a loaded machine.
  expect: { timeout: 60_000 },
  reporter: process.env.PLAYWRIGHT_JUNIT_OUTPUT_FILE ? [["list"], ["junit"]] : [["list"]],
  use: {
    actionTimeout: 60_000,
    launchOptions: browser,
    viewport: { width: 1280, height: 800 },
    // Screenshots of every step would take as long as the steps.
    trace: { mode: "retain-on-failure", screenshots: false },
  },
});
