import { expect, test, turns } from "./gateway";

const models = `
[[model]]
name = "gpt-4o"
window = 128000
tokenizer = "o200k_base"
template = "openai"
specials = "plain"
source = "a price list of our own"
price_input = 2.5
price_output = 10
`;

test.use({ file: "costs", settings: { models, keep_prompts: true } });

test("what a request costs is shown, and what is not known says so", async ({ console: page, gateway }) => {
  await gateway.do("upstream", { prompt_tokens: 1_000 });
  const ask = async (model: string) => (await gateway.post("/v1/chat/completions", { model, messages: turns(2), max_tokens: 90 })).headers.get("x-plimsoll-trace") ?? "";
  const priced = await ask("gpt-4o");
  const other = await ask("small");
  // 1,000 tokens at 2.50 and 3 at 10 dollars per million.
  await expect(page.locator(`[data-trace="${priced}"] .cost`)).toHaveText("$0.002530");
  await expect(page.locator(`[data-trace="${other}"] .cost`)).toHaveText("–");
  await page.locator(`[data-trace="${priced}"]`).click();
  await expect(page.locator(".cost")).toHaveText("Cost $0.002530 by the list price");
  await page.goto(`${gateway.url}/#/trace/${other}`);
  await expect(page.locator(".cost")).toContainText("not known: no price is known for this model on this server");
  await page.goto(`${gateway.url}/#/usage`);
  await expect(page.locator(".tile", { hasText: "Cost in 30 days" })).toContainText("$0.002530");
  await expect(page.locator(".tile", { hasText: "Cost in 30 days" })).toContainText("list price of 1 of 2 requests");
  await expect(page.locator("tr", { hasText: "small" })).toContainText("not known");
});

test("the prompt is shown as the model reads it, and hostile characters by their codes", async ({ console: page, gateway }) => {
  const hostile = "<script>alert(1)</script> a\u202Eb \u001B[31m red\u200B";
  const id = await gateway.chat({ model: "qwen2.5:7b", messages: [{ role: "user", content: hostile }], max_tokens: 50 });
  await page.goto(`${gateway.url}/#/trace/${id}`);
  await page.getByText("Show the prompt").click();
  const prompt = page.getByLabel("The prompt as the model reads it");
  await expect(prompt).toContainText("<|im_start|>user\n<script>alert(1)</script> aU+202Eb U+001B[31m redU+200B<|im_end|>");
  expect(await prompt.locator("script").count()).toBe(0);
  const long = await gateway.chat({ model: "qwen2.5:7b", messages: turns(300, 64), max_tokens: 50 });
  await page.goto(`${gateway.url}/#/trace/${long}`);
  await page.getByText("Show the prompt").click();
  await expect(prompt).toContainText("How deep may she be loaded in winter?");
  const unknown = await gateway.chat({ model: "gpt-4o", messages: turns(1), max_tokens: 50 });
  await page.goto(`${gateway.url}/#/trace/${unknown}`);
  await page.getByText("Show the prompt").click();
  await expect(page.locator(".prompt")).toContainText("It cannot be shown: the chat template of this model is not known");
});
