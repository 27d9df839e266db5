import { expect, test } from "./gateway";

test.use({ file: "documents" });

const log = `# The log
## Loading
The grain came aboard in Odessa. Nine hundred tons went into the hold before noon.
The load line stood two inches above the water when we sailed.
## Crew
The cook signed on in Genoa. He had never seen the sea and could not swim.
`;

test("upload, ask, read the answer as it comes, and open its source", async ({ console: page, gateway }) => {
  await page.goto(`${gateway.url}/#/documents`);
  await page.getByLabel("New index").fill("ship");
  await page.getByLabel("Files").setInputFiles({ name: "log.md", mimeType: "text/markdown", buffer: Buffer.from(log) });
  await expect(page.getByRole("link", { name: "log.md" })).toBeVisible();
  await page.getByLabel("Question").fill("How much grain went into the hold?");
  await page.getByRole("button", { name: "Search" }).click();
  await expect(page.locator(".passages mark").first()).toContainText("Nine hundred tons");

  await page.goto(`${gateway.url}/#/playground`);
  await page.getByLabel("Model").selectOption("gpt-4o");
  await page.getByLabel("Index").selectOption("ship");
  await gateway.do("upstream", { text: "Nine hundred tons went into the hold before noon. The captain was born in Lisbon in 1802." });
  await page.getByLabel("Message").fill("How much grain went into the hold?");
  await page.getByLabel("Message").press("Enter");
  await expect(page.locator(".answer-text")).toContainText("Lisbon");
  await expect(page.locator(".sentence.supported")).toContainText("Nine hundred tons");
  await expect(page.locator(".sentence.unsupported")).toContainText("Lisbon");
  await expect(page.locator(".caption")).toContainText("1 of 2 sentences supported");
  await page.locator(".sources a").first().click();
  await expect(page.locator(".document-text mark")).toContainText("Nine hundred tons");
  await expect(page.locator(".document-text")).toContainText("The cook signed on in Genoa.");
});

test("an answer is shown while it is written", async ({ console: page, gateway }) => {
  await gateway.do("upstream", { text: "One two three four five.", slow_after: 3 });
  await gateway.do("hold");
  await page.goto(`${gateway.url}/#/playground`);
  // The false server waits in the middle of an answer of such a model.
  await page.route("**/v1/chat/completions", (route) => {
    const body = route.request().postDataJSON() as { model: string };
    return route.continue({ postData: JSON.stringify({ ...body, model: `slow/${body.model}` }) });
  });
  await page.getByLabel("Message").fill("Count to five.");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.locator(".answer-text")).toContainText("One");
  await expect(page.locator(".answer-text")).not.toContainText("five");
  await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await gateway.do("release");
  await expect(page.locator(".answer-text")).toContainText("five");
});

test("two settings answer side by side", async ({ console: page, gateway }) => {
  await gateway.do("upstream", { text: "Aye." });
  await page.goto(`${gateway.url}/#/playground`);
  await page.getByRole("button", { name: "Compare two settings" }).click();
  await page.getByLabel("Model").nth(0).selectOption("gpt-4o");
  await page.getByLabel("Model").nth(1).selectOption("small");
  await page.getByLabel("Message").fill("Ready?");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.locator(".side").nth(0).locator(".answer-text")).toHaveText("Aye.");
  await expect(page.locator(".side").nth(1).locator(".answer-text")).toHaveText("Aye.");
});

test("hostile names and texts stay text", async ({ console: page, gateway }) => {
  const name = "<img src=x onerror=alert(1)>\u202Egpj.exe &amp; red.md";
  await gateway.upload("traps", name, "# Trap\n<script>alert(1)</script> The rope is forty fathoms long.\n");
  let dialogs = 0;
  page.on("dialog", (dialog) => (dialogs++, dialog.dismiss()));
  await page.goto(`${gateway.url}/#/documents/traps`);
  const title = page.locator(".document a bdi");
  await expect(title).toContainText("<img src=x onerror=alert(1)>");
  await title.click();
  await expect(page.locator(".document-text")).toContainText("<script>alert(1)</script>");
  await expect(page.locator("h1 bdi")).toContainText("<img");

  const model = "<b>x</b>\u202E</script><script>alert(2)</script>";
  const response = await gateway.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "x" }] });
  const id = response.headers.get("x-plimsoll-trace") ?? "";
  await page.goto(`${gateway.url}/#/live`);
  const row = page.locator(`[data-trace="${id}"]`);
  await expect(row.locator("b").first()).toHaveText(model);
  await row.click();
  await expect(page.locator("h1")).toHaveText(model);
  expect(await page.locator("main img, main script").count()).toBe(0);
  expect(dialogs).toBe(0);
});

test("a small evaluation runs and shows its answers", async ({ console: page, gateway }) => {
  await gateway.upload("papers", "log.md", log);
  await gateway.do("upstream", { text: "Nine hundred tons." });
  await page.goto(`${gateway.url}/#/evaluations`);
  await page.getByLabel("Index").selectOption("papers");
  await page.getByLabel("Model").selectOption("gpt-4o");
  await page.getByLabel("Questions").fill("How much grain?\nWho could not swim?");
  await page.getByRole("button", { name: "Ask 2 questions" }).click();
  await expect(page.locator(".runs li")).toHaveCount(2);
  await expect(page.locator(".runs li").nth(1)).toContainText("Nine hundred tons.");
  await page.reload();
  await page.goto(`${gateway.url}/#/evaluations`);
  const listed = page.getByLabel("Runs").getByRole("link").first();
  await expect(listed).toContainText("papers, gpt-4o");
  await expect(listed).toContainText("2 of 2 questions, done");
  await listed.click();
  await page.locator(".runs").getByRole("link", { name: "plan" }).first().click();
  await expect(page.getByRole("heading", { name: "Passages" })).toBeVisible();
});

test("names lead from one document to another", async ({ console: page, gateway }) => {
  await gateway.upload("voyage", "mary.md", "# Mary Bright\n\nMary Bright was a barque that Samuel Hall built in Sunderland.\n");
  await gateway.upload("voyage", "hall.md", "# Samuel Hall\n\nSamuel Hall was a shipbuilder from Whitby, and never met Mary Bright again.\n");
  await page.goto(`${gateway.url}/#/documents/voyage`);
  await page.getByLabel("Most frequent names").getByRole("button", { name: /samuel hall/ }).click();
  const ring = page.getByLabel("Names beside samuel hall");
  await expect(ring).toBeVisible();
  await expect(page.locator(".around").getByRole("link", { name: "mary.md" })).toBeVisible();
  await expect(page.locator(".around li", { hasText: "hall.md" })).toContainText("its title");
  await ring.getByRole("button", { name: /mary bright/ }).press("Enter");
  await expect(page.getByLabel("Names beside mary bright")).toBeVisible();
});

test("memories are added, found, rated and deleted", async ({ console: page, gateway }) => {
  await page.goto(`${gateway.url}/#/memory`);
  await page.getByLabel("New fact").fill("The harbour master is called Ines.");
  await page.getByRole("button", { name: "Remember" }).click();
  const fact = page.locator(".facts-list li").first();
  await expect(fact).toContainText("Ines");
  const trust = await fact.locator("dd").first().textContent();
  await fact.getByRole("button", { name: "Helpful", exact: true }).click();
  await expect(fact.locator("dd").first()).not.toHaveText(trust ?? "");
  await fact.getByRole("button", { name: "Delete this fact" }).click();
  await fact.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("Nothing is remembered")).toBeVisible();
});

test("a document and an index are deleted after a question", async ({ console: page, gateway }) => {
  await gateway.upload("attic", "old.md", "# Old\nA rope.\n");
  await page.goto(`${gateway.url}/#/documents/attic`);
  await page.getByRole("button", { name: "Delete attic with 1 document" }).click();
  await page.getByRole("button", { name: "Keep" }).click();
  await page.getByRole("button", { name: "Delete old.md" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("link", { name: "old.md" })).toHaveCount(0);
});
