// What every page looks like: accessible, in dark and light, on a telephone. With CONSOLE_PICTURES=FOLDER the pictures of
// the manual are written there.
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import { expect, test, turns, type Gateway } from "./gateway";

test.use({ file: "look", settings: { keep_prompts: true } });

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const pictures = process.env.CONSOLE_PICTURES;

const log = `# The log of the Edda
## Loading
The grain came aboard in Odessa. Nine hundred tons went into the hold before noon.
The load line stood two inches above the water when we sailed.
The agent asked for another forty tons, and the mate refused them.
## Crew
The cook signed on in Genoa. He had never seen the sea and could not swim.
`;
const rules = `# Load lines
A Plimsoll line on a ship's hull shows how deep the ship may be loaded.
In winter in the North Atlantic a ship floats higher, and carries less, than in summer.
Fresh water is lighter than sea water: a ship in a river lies deeper with the same cargo.
`;

async function prepare(gateway: Gateway): Promise<void> {
  await gateway.upload("ship", "log-of-the-edda.md", log);
  await gateway.upload("ship", "load-lines.md", rules);
  for (const [number, name] of ["charter-party", "crew-list", "stowage-plan", "weather-notes"].entries())
    await gateway.upload("ship", `${name}.md`, `# ${name}\n${`Page ${number} of the papers of the ship, kept by the mate. `.repeat(8 + 14 * number)}\n`);
  await gateway.post("/v1/memories", { text: "The captain prefers figures in metric tons.", importance: 0.8 });
  await gateway.post("/v1/memories", { text: "The Edda sails under the flag of Norway.", importance: 0.7 });
  await gateway.do("upstream", { text: "In winter she floats higher: the winter line leaves more freeboard than the summer line." });
  const tools = [{ type: "function", function: { name: "draught", description: "Reads the draught of the ship at bow and stern, in metres.", parameters: { type: "object", properties: { place: { type: "string", enum: ["bow", "stern"] } } } } }];
  await gateway.chat({ model: "gpt-4o", messages: turns(6), tools, max_tokens: 4_000 });
  for (let turn = 1; turn <= 14; turn++)
    await gateway.chat({ model: "small", messages: turns(turn, 32), max_tokens: 200, plimsoll: { session: "night-watch", memory: turn > 8 } });
  await gateway.chat({ model: "qwen2.5:7b", messages: turns(60), max_tokens: 8_000 }, 4);
  await gateway.chat({ model: "llama3.2:3b", messages: [{ role: "user", content: "How much grain went into the hold?" }], index_name: "ship", max_tokens: 500 });
  await gateway.chat({ model: "llama3.2:3b", messages: turns(80), max_tokens: 1_500 });
  await gateway.chat({ model: "cut/gpt-4o", messages: turns(30), max_tokens: 9_000 });
  await gateway.chat({ model: "llama3.2:3b", messages: turns(18), index_name: "ship", max_tokens: 1_500, plimsoll: { memory: true, session: "bridge" } });
}

async function audit(page: Page, where: string): Promise<void> {
  await page.addScriptTag({ path: axePath }).catch(() => page.evaluate(axeSource()));
  const found = await page.evaluate(async () => {
    const axe = (window as unknown as { axe: { run: (options: object) => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }).axe;
    return (await axe.run({ resultTypes: ["violations"] })).violations.map((one) => `${one.impact} ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
  });
  expect(found.filter((one) => /^(serious|critical)/.test(one)), where).toEqual([]);
}

function axeSource(): string {
  return createRequire(import.meta.url)("node:fs").readFileSync(axePath, "utf8") as string;
}

async function picture(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` });
}

const places: [name: string, address: string, ready: string][] = [
  ["live", "#/live", ".row[data-trace]"],
  ["playground", "#/playground", '.controls option:text-is("ship")'],
  ["conversations", "#/conversation/night-watch", ".stacks li"],
  ["documents", "#/documents/ship", ".document"],
  ["document", "#/document/ship/log-of-the-edda.md?start=36&end=118", ".document-text mark"],
  ["evaluations", "#/evaluations", '.controls option:text-is("ship")'],
  ["models", "#/models", "tbody tr"],
  ["memory", "#/memory", ".facts-list li"],
  ["usage", "#/usage", ".days svg"],
];

let prepared = false;

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme, bypassCSP: true });

    test(`every page is accessible, and fits a telephone (${scheme})`, async ({ console: page, gateway }) => {
      test.setTimeout(120_000);
      if (!prepared) await prepare(gateway);
      prepared = true;
      await page.goto(`${gateway.url}/#/live`);
      await page.reload();
      await expect(page.locator(".row[data-trace]").first()).toBeVisible();
      let trace = "";
      await expect.poll(async () => {  // traces are written a moment after the answer
        const { data } = (await (await fetch(`${gateway.url}/v1/traces?session=bridge`)).json()) as { data: { id: string }[] };
        trace = `#/trace/${data[0]?.id}`;
        return data.length;
      }).toBeGreaterThan(0);
      for (const [name, address, ready] of [...places, ["trace", trace, ".piece"] as (typeof places)[number]]) {
        await page.setViewportSize({ width: 1280, height: 860 });
        await page.goto(`${gateway.url}/${address}`);
        await expect(page.locator(ready).first()).toBeAttached();
        if (name === "documents") await search(page);
        if (name === "playground") await converse(page, gateway);
        if (name === "trace") await shrink(page);
        await page.waitForTimeout(150);
        await audit(page, `${name}, ${scheme}`);
        await picture(page, `console-${name}-${scheme}`);
        await page.setViewportSize({ width: 360, height: 740 });
        const { width, widest } = await page.evaluate(() => ({
          width: document.documentElement.scrollWidth,
          widest: [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > 361).slice(-3).map((one) => one.outerHTML.slice(0, 120)),
        }));
        expect(width, `${name} is as wide as a telephone: ${widest.join(" | ")}`).toBeLessThanOrEqual(360);
        if (scheme === "light" && name === "live") await picture(page, "console-live-narrow");
      }
    });
  });
}

async function search(page: Page): Promise<void> {
  await page.getByLabel("Question").fill("How deep may a ship be loaded?");
  await page.getByRole("button", { name: "Search" }).click();
  await expect(page.locator(".passages mark").first()).toBeVisible();
}

// The plan for a smaller window, all of it in the picture.
async function shrink(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 1_240 });
  await page.getByRole("slider", { name: "Window" }).fill("2600");
  await expect(page.locator(".moved").first()).toBeVisible();
}

async function converse(page: Page, gateway: Gateway): Promise<void> {
  await gateway.do("upstream", { text: "Nine hundred tons went into the hold before noon. The agent asked for another forty tons, and the mate refused them. The captain was born in Lisbon in 1802.", prompt_tokens: 412 });
  await page.getByLabel("Model").selectOption("llama3.2:3b");
  await page.getByLabel("Index").selectOption("ship");
  await page.getByLabel("Message").fill("How much grain went into the hold, and did they take more?");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.locator(".sentence.unsupported").first()).toBeVisible();
  await page.getByLabel("Message").fill("Why did the mate refuse?");
  await expect(page.locator(".gauge svg")).toBeVisible();
}

test("the page can be used by keyboard alone", async ({ console: page, gateway }) => {
  await gateway.chat({ model: "gpt-4o", messages: turns(2) });
  await page.goto(`${gateway.url}/#/live`);
  await expect(page.locator(".row[data-trace]").first()).toBeVisible();
  await page.locator("body").press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the page" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("main")).toBeFocused();
  for (let i = 0; i < 20 && !(await page.locator(".row[data-trace]:focus").count()); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Window", exact: true })).toBeVisible();
});
