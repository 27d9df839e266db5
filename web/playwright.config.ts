import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

// Debian's Chromium: nothing is downloaded.
const chromium = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path));

export default defineConfig({
  testDir: "e2e",
  outputDir: "../build/console/results",
  reporter: [["line"]],
  workers: 1, // one gateway at a time, on a machine that does other things too
  retries: 2, // on a busy machine traces and pages can be later than a test expects; such tests are listed as flaky
  timeout: 60_000,
  expect: { timeout: 15_000 },
  use: {
    browserName: "chromium",
    launchOptions: { ...(chromium ? { executablePath: chromium } : {}), args: ["--no-sandbox", "--disable-dev-shm-usage"] },
    viewport: { width: 1280, height: 860 },
    timezoneId: "UTC",
    locale: "en-GB",
  },
});
