import { expect, test, turns } from "./gateway";

test.use({ file: "live" });

test("a request appears with its window drawn to the pixel", async ({ console: page, gateway }) => {
  await expect(page.getByText("No requests yet")).toBeVisible();
  await expect(page.getByRole("status").first()).toHaveText("watching");
  const id = await gateway.chat({ model: "llama3.2:3b", messages: turns(20), max_tokens: 700 }, 3);
  const row = page.locator(`[data-trace="${id}"]`);
  await expect(row).toBeVisible();
  await expect(row.locator(".drift")).toHaveText("+3");

  // It is stored a moment after it is shown.
  await expect.poll(async () => (await fetch(`${gateway.url}/v1/traces/${id}`)).status).toBe(200);
  const trace = (await (await fetch(`${gateway.url}/v1/traces/${id}`)).json()) as {
    window: number;
    answer_tokens: number;
    margin: number;
    plan: { sections: { name: string; used: number }[] };
  };
  const planned = new Map(trace.plan.sections.map((one) => [one.name, one.used]));
  planned.set("answer", trace.answer_tokens);
  planned.set("margin", trace.margin);
  for (const place of ["row", "page"]) {
    if (place === "page") await row.click();
    const bar = place === "row" ? row.locator("svg.bar") : page.locator("svg.bar.tall").first();
    await expect(bar).toBeVisible();
    const drawn = await bar.evaluate((svg) => {
      const whole = svg.getBoundingClientRect();
      return {
        width: whole.width,
        parts: [...svg.querySelectorAll("rect")].map((rect) => {
          const box = rect.getBoundingClientRect();
          return { name: rect.dataset.part ?? "", left: box.left - whole.left, width: box.width };
        }),
      };
    });
    expect(drawn.parts.length).toBeGreaterThan(4);
    let at = 0;
    for (const part of drawn.parts) {
      const left = trace.window - [...planned.values()].reduce((sum, one) => sum + one, 0);
      const tokens = part.name === "left" ? left : (planned.get(part.name) ?? 0);
      expect(Math.abs(part.left - (at * drawn.width) / trace.window), `${part.name} begins`).toBeLessThan(1);
      expect(Math.abs(part.width - (tokens * drawn.width) / trace.window), `${part.name} is as wide as its tokens`).toBeLessThan(1);
      at += tokens;
    }
    expect(at).toBe(trace.window);
  }
});

test("a request is shown while it is under way", async ({ console: page, gateway }) => {
  await expect(page.locator(".pulse")).toHaveText("watching");
  await gateway.do("hold");
  const answer = gateway.post("/v1/chat/completions", { model: "pause/gpt-4o", messages: turns(1) });
  const row = page.locator(".begun li");
  await expect(row).toContainText("pause/gpt-4o");
  await gateway.do("release");
  const id = (await answer).headers.get("x-plimsoll-trace") ?? "";
  await expect(row).toHaveCount(0);
  await expect(page.locator(`[data-trace="${id}"]`)).toBeVisible();
});

test("an upstream that cuts a prompt raises an alarm", async ({ console: page, gateway }) => {
  const id = await gateway.chat({ model: "cut/gpt-4o", messages: turns(30) });
  const row = page.locator(`[data-trace="${id}"]`);
  await expect(row.getByRole("alert")).toContainText("upstream cut");
  await row.click();
  await expect(page.getByRole("alert")).toContainText("did not see part of the prompt");
});

test("a plan shows what was left out, and what a smaller window would do", async ({ console: page, gateway }) => {
  await page.goto(`${gateway.url}/#/playground`);
  await page.getByLabel("Model").selectOption("llama3.2:3b");
  await gateway.do("upstream", { text: "As deep as her winter line allows.", prompt_tokens: 90 });
  for (const words of ["short question", "load line ".repeat(300), "last question"]) {
    await page.getByLabel("Message").fill(words);
    await expect(page.locator(".gauge")).not.toHaveText("…");
    await page.getByRole("button", { name: "Send" }).click();
    await expect(page.locator(".turn").last().getByText("As deep as her winter line allows.")).toBeVisible();
    await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
  }
  await page.locator(".turn").last().getByRole("link", { name: "plan" }).click();
  await expect(page.getByRole("heading", { name: "What if the window were smaller?" })).toBeVisible();
  const slider = page.getByRole("slider", { name: "Window" });
  await slider.fill("900");
  await expect(page.locator(".moved").first()).toContainText("would be left out");
  await expect(page.locator(".replan svg.bar")).toHaveAttribute("data-window", /^(8[89]\d|900)$/);
  await slider.fill("64");
  await expect(page.locator(".replan").getByRole("alert")).toBeVisible();
});

test("requests that are not kept say so", async ({ console: page, gateway }) => {
  const id = await gateway.chat({ model: "small", messages: turns(20), max_tokens: 200, plimsoll: { compress: false } });
  await page.goto(`${gateway.url}/#/trace/${id}`);
  await expect(page.getByText("The request is not kept, so it cannot be planned again.")).toBeVisible();
  await expect(page.getByText("keep_prompts = true")).toBeVisible();
  await page.getByRole("button", { name: "left out" }).click();
  await expect(page.locator(".piece.dropped").first()).toContainText("messages[");
});

test("the gateway restarts under the page, which finds it again", async ({ console: page, gateway }) => {
  const before = await gateway.chat({ model: "gpt-4o", messages: turns(2) });
  await expect(page.locator(`[data-trace="${before}"]`)).toBeVisible();
  await gateway.do("stop");
  await expect(page.locator(".pulse")).toHaveText("reconnecting");
  await expect(page.locator(`[data-trace="${before}"]`)).toBeVisible();
  await gateway.do("start");
  await expect(page.locator(".pulse")).toHaveText("watching");
  const after = await gateway.chat({ model: "gpt-4o", messages: turns(3) });
  await expect(page.locator(`[data-trace="${after}"]`)).toBeVisible();
  await page.reload();
  await expect(page.locator(`[data-trace="${before}"]`)).toBeVisible();
});

test("ten thousand requests scroll without a stutter", async ({ console: page, gateway }) => {
  const id = await gateway.chat({ model: "gpt-4o", messages: turns(3) });
  let list: { data: { id: string }[] } = { data: [] };
  const newest = async () => {
    list = (await (await fetch(`${gateway.url}/v1/traces?limit=1`)).json()) as typeof list;
    return list.data[0]?.id;
  };
  await expect.poll(newest).toBe(id); // it is stored a moment after the answer
  await page.route("**/v1/traces?limit=200*", async (route) => {
    const one = list.data[0];
    const data = Array.from({ length: 10_000 }, (_, i) => ({ ...one, id: `${id.slice(0, 12)}${String(20_000_000 - i)}` }));
    await route.fulfill({ json: { object: "list", data } });
  });
  await page.reload();
  await expect(page.locator(".tile b").first()).toHaveText(/10,00\d/);
  const frames = await page.locator(".live .virtual").evaluate(async (box) => {
    const times: number[] = [];
    let before = performance.now();
    for (let i = 0; i < 120; i++) {
      box.scrollTop += 1_500;
      const now = await new Promise<number>((done) => requestAnimationFrame(done));
      times.push(now - before);
      before = now;
    }
    return times.sort((a, b) => a - b);
  });
  const rows = await page.locator(".live .virtual li").count();
  expect(rows).toBeLessThan(60);
  const p95 = frames[Math.floor(frames.length * 0.95)] ?? 0;
  globalThis.console.log(`frames while scrolling 10,000 requests: median ${frames[60]?.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`);
  expect(p95).toBeLessThan(250); // this machine does other things too
});

test("a plan of a hundred thousand pieces opens and scrolls", async ({ console: page, gateway }) => {
  const id = await gateway.chat({ model: "gpt-4o", messages: turns(3) });
  let trace: { plan: { pieces: object[] } } | null = null;
  const stored = async () => {
    const response = await fetch(`${gateway.url}/v1/traces/${id}`);
    if (response.ok) trace = (await response.json()) as typeof trace;
    return trace !== null;
  };
  await expect.poll(stored).toBe(true);
  const pieces = Array.from({ length: 100_000 }, (_, i) => ({ section: "history", id: `messages[${i}]`, tokens: 7, fate: i % 3 ? "kept" : "dropped", reason: "history is cut from its oldest end" }));
  await page.route(`**/v1/traces/${id}`, (route) => route.fulfill({ json: { ...trace, plan: { ...trace?.plan, pieces } } }));
  await page.goto(`${gateway.url}/#/trace/${id}`);
  const list = page.getByRole("region", { name: "Pieces of the request" });
  await expect(list.locator("li").first()).toContainText("messages[0]");
  expect(await list.locator("li").count()).toBeLessThan(60);
  await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await expect(list.locator("li").last()).toContainText("messages[99999]");
  await page.getByRole("button", { name: "left out" }).click();
  await expect(list.locator("li").last()).toContainText("messages[");
  await expect(page.getByText("66,666 sent, 33,334 left out")).toBeVisible();
});
