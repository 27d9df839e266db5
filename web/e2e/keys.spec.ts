import { expect, test, turns } from "./gateway";

test.use({ file: "keys" });

test.describe.configure({ mode: "serial" });

let secret = "";

test("with keys the page asks for one and keeps it in memory only", async ({ page, gateway }) => {
  const { output } = await gateway.do<{ output: string }>("run", { arguments: ["keys", "add", "ann", "--tokens-per-day", "200000"] });
  secret = /plk_\S+/.exec(output)?.[0] ?? "";
  expect(secret).not.toBe("");
  await expect.poll(async () => (await fetch(`${gateway.url}/v1/account`)).status).toBe(401);
  await page.goto(`${gateway.url}/`);
  await page.getByLabel("Key").fill("plk_wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByLabel("Key").fill(secret);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { name: "Live" })).toBeVisible();
  await expect(page.getByText("ann", { exact: true })).toBeVisible();
  const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
  expect(stored).not.toContain("plk_");
  await page.reload();
  await expect(page.getByLabel("Key")).toBeVisible();
});

test("everything shown belongs to the key", async ({ page, gateway }) => {
  const { output } = await gateway.do<{ output: string }>("run", { arguments: ["keys", "add", "bob"] });
  const other = /plk_\S+/.exec(output)?.[0] ?? "";
  await page.goto(`${gateway.url}/`);
  await page.getByLabel("Key").fill(secret);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.locator(".pulse")).toHaveText("watching");
  gateway.key = other;
  await expect.poll(async () => (await gateway.post("/v1/plan", { model: "gpt-4o", messages: turns(1) })).status).toBe(200);
  const theirs = await gateway.chat({ model: "gpt-4o", messages: turns(1) });
  gateway.key = secret;
  const own = await gateway.chat({ model: "gpt-4o", messages: turns(1) });
  await expect(page.locator(`[data-trace="${own}"]`)).toBeVisible();
  await expect(page.locator(`[data-trace="${theirs}"]`)).toHaveCount(0);
  await page.goto(`${gateway.url}/#/trace/${theirs}`);
  await expect(page.getByRole("alert")).toBeVisible();
  await page.goto(`${gateway.url}/#/usage`);
  await expect(page.getByText("of 200,000 tokens")).toBeVisible();
  // A revoked key ends what it watches.
  await page.goto(`${gateway.url}/#/live`);
  await gateway.do("run", { arguments: ["keys", "revoke", "ann"] });
  await expect(page.getByLabel("Key")).toBeVisible();
});
