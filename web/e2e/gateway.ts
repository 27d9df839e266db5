// A gateway for the tests of one file, started by tests/console/harness.py, and a page that must not complain.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { test as base, expect, type Page } from "@playwright/test";

const root = fileURLToPath(new URL("../..", import.meta.url));

export class Gateway {
  url = "";
  greeting = "";
  key = "";
  private process: ChildProcess;
  private lines: AsyncIterator<string>;

  constructor(settings: Record<string, unknown>) {
    this.process = spawn("python3", ["tests/console/harness.py", JSON.stringify(settings)], {
      cwd: root,
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, PATH: `${root}/build:${process.env.PATH}`, PYTHONDONTWRITEBYTECODE: "1" },
    });
    if (!this.process.stdout) throw new Error("no output");
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async started(): Promise<this> {
    const first = await this.answer<{ url: string; greeting: string }>();
    this.url = first.url;
    this.greeting = first.greeting;
    return this;
  }

  private async answer<T>(): Promise<T> {
    const line = await this.lines.next();
    if (line.done) throw new Error("the gateway's harness ended");
    return JSON.parse(line.value) as T;
  }

  async do<T = object>(what: string, details: object = {}): Promise<T> {
    this.process.stdin?.write(`${JSON.stringify({ do: what, ...details })}\n`);
    return this.answer<T>();
  }

  async post(path: string, body: unknown): Promise<Response> {
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (this.key) headers["Authorization"] = `Bearer ${this.key}`;
    return fetch(this.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  // A chat that is answered, whose upstream reports what the plan says plus `drift`. Returns the trace's id.
  async chat(body: { model: string; messages: object[] } & Record<string, unknown>, drift = 0): Promise<string> {
    const plan = (await (await this.post("/v1/plan", body)).json()) as { input_tokens?: number };
    if (plan.input_tokens !== undefined) await this.do("upstream", { prompt_tokens: Math.max(0, plan.input_tokens + drift) });
    const response = await this.post("/v1/chat/completions", body);
    await response.text();
    return response.headers.get("x-plimsoll-trace") ?? "";
  }

  async upload(index: string, name: string, text: string): Promise<void> {
    const form = new FormData();
    form.append("index", index);
    form.append("file", new Blob([text]), name);
    const response = await fetch(`${this.url}/documents?wait=true`, { method: "POST", body: form });
    const job = (await response.json()) as { status: string };
    if (job.status !== "done") throw new Error(JSON.stringify(job));
  }

  async close(): Promise<void> {
    this.process.stdin?.end();
    await new Promise((done) => this.process.once("exit", done));
  }
}

interface PerFile {
  file: string; // a gateway serves one file of tests
  settings: Record<string, unknown>;
  gateway: Gateway;
}

export const test = base.extend<{ console: Page }, PerFile>({
  file: ["", { option: true, scope: "worker" }],
  settings: [{}, { option: true, scope: "worker" }],
  gateway: [
    async ({ settings }, use) => {
      const gateway = await new Gateway(settings).started();
      await use(gateway);
      await gateway.close();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  // The page of the console. Nothing may fail in it, break its policy, or leave this machine.
  console: async ({ page, gateway }, use) => {
    const complaints: string[] = [];
    const failuresExpected = () => page.url().includes("expect=failures");
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      const refused = /Failed to load resource|ERR_/.test(message.text());
      if (message.type() === "error" && !refused && !failuresExpected()) complaints.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(gateway.url) && !request.url().startsWith("data:")) complaints.push(`left this machine: ${request.url()}`);
    });
    await page.goto(`${gateway.url}/`);
    // What ends before the page watches reaches its list a moment later, after the list was read. With keys it asks for one first.
    await expect(page.locator(".pulse", { hasText: "watching" }).or(page.locator("form")).first()).toBeVisible();
    await use(page);
    expect(complaints).toEqual([]);
  },
});

export { expect };

export function turns(count: number, words = 40): object[] {
  const messages: object[] = [{ role: "system", content: "You are the mate of a cargo ship. Answer briefly." }];
  for (let i = 0; i < count; i++) {
    messages.push({ role: "user", content: `${i}: ${"how deep may she be loaded in summer ".repeat(words / 8)}` });
    messages.push({ role: "assistant", content: `${i}: ${"as deep as the line on her side allows ".repeat(words / 8)}` });
  }
  return [...messages, { role: "user", content: "How deep may she be loaded in winter?" }];
}
