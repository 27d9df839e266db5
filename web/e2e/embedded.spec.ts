// The whole way with a real model: the embedded one, which is small and slow.
import type { Locator } from "@playwright/test";
import { expect, test } from "./gateway";

test.use({ file: "embedded", settings: { embedded: true, embedded_window: 2048, embedded_threads: 2 } });
test.setTimeout(240_000);

const log = `# The log
## Loading
The grain came aboard in Odessa. Nine hundred tons went into the hold before noon.
## Crew
The cook signed on in Genoa. He had never seen the sea and could not swim.
`;

// What the model wrote: the numbers of the sources come between its sentences when it has ended.
const wordsOf = (answer: Locator) =>
  answer.evaluate((whole) => {
    const words = whole.cloneNode(true) as Element;
    words.querySelectorAll(".cite").forEach((number) => number.remove());
    return words.textContent ?? "";
  });

test("upload, ask, watch the answer come, open its source, see the plan and shrink the window", async ({ console: page, gateway }) => {
  await page.goto(`${gateway.url}/#/documents`);
  await page.getByLabel("New index").fill("ship");
  await page.getByLabel("Files").setInputFiles({ name: "log.md", mimeType: "text/markdown", buffer: Buffer.from(log) });
  await expect(page.getByRole("link", { name: "log.md" })).toBeVisible();

  await page.goto(`${gateway.url}/#/playground`);
  await page.getByLabel("Index").selectOption("ship");
  await page.getByLabel("Longest answer").fill("16");
  await page.getByLabel("Message").fill("How much grain went into the hold? Tell the whole story in many words.");
  await page.getByRole("button", { name: "Send" }).click();

  // The answer grows while it is written.
  const answer = page.locator(".answer-text").first();
  await expect(answer).not.toBeEmpty({ timeout: 100_000 });
  const early = await wordsOf(answer);
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible({ timeout: 100_000 });
  const whole = await wordsOf(answer);
  expect(whole.length, `first ${early}, then ${whole}`).toBeGreaterThan(early.length);
  expect(whole.slice(0, early.trimEnd().length)).toBe(early.trimEnd());

  // Its passage is where it says.
  const source = page.locator(".sources a").first();
  await expect(source).toContainText("log.md");
  await source.click();
  await expect(page.locator(".document-text mark")).toContainText("Nine hundred tons");
  await page.goBack();

  await page.goto(`${gateway.url}/#/live`);
  const row = page.locator(".row[data-trace]").first();
  await expect(row).toContainText("smollm2:135m");
  await expect(row.locator("svg.bar rect").first()).toBeVisible();
  await row.click();

  // What the plan counted is what the model has read.
  const id = new URL(page.url()).hash.split("/").pop() ?? "";
  await expect.poll(async () => (await fetch(`${gateway.url}/v1/traces/${id}`)).status).toBe(200);
  const trace = (await (await fetch(`${gateway.url}/v1/traces/${id}`)).json()) as { drift: number; input_tokens: number; cost: { why: string } };
  expect(trace.drift).toBe(0);
  expect(trace.input_tokens).toBeGreaterThan(40);
  await expect(page.locator(".cost")).toContainText("not known: no price is known");

  await page.getByText("Show the prompt").click();
  const prompt = page.getByLabel("The prompt as the model reads it");
  await expect(prompt).toContainText("<|im_start|>user");
  await expect(prompt).toContainText("Nine hundred tons went into the hold before noon.");

  await page.getByRole("slider", { name: "Window" }).fill("90");
  await expect(page.locator(".replan")).toContainText(/would be left out|would not fit/);
});

test("a request of another program is seen while the model answers it", async ({ console: page, gateway }) => {
  await expect(page.locator(".pulse")).toHaveText("watching");
  const answer = gateway.post("/v1/chat/completions", { model: "smollm2:135m", max_tokens: 24, messages: [{ role: "user", content: "Tell a long story about a ship." }] });
  await expect(page.locator(".begun li")).toContainText("smollm2:135m");
  const response = await answer;
  const { usage } = (await response.json()) as { usage: { prompt_tokens: number } };
  const row = page.locator(`[data-trace="${response.headers.get("x-plimsoll-trace")}"]`);
  await expect(row.locator(".window small")).toContainText(`${usage.prompt_tokens} of 2`);
  await expect(row.locator(".drift")).toHaveText("0");
  await expect(page.locator(".begun li")).toHaveCount(0);
});
