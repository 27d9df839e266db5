import { describe, expect, it } from "vitest";
import { sessionsOf } from "./conversation";
import { driftOf } from "./models";
import { placeOnRing } from "./names";
import { bodyOf } from "./playground";
import { budgetAlert, costOf, grouped } from "./usage";
import type { TraceSummary } from "../api/types";

describe("grouped", () => {
  it("counts requests once and tokens by section", () => {
    const row = (group: string, section: string, tokens: number, requests: number) => ({ group, section, tokens, requests, nano_usd: null, priced_requests: 0 });
    const [one] = grouped([row("m", "", 0, 3), row("m", "history", 100, 2), row("m", "answer", 30, 3), row("m", "thinking", 5, 1)]);
    expect(one).toMatchObject({ name: "m", requests: 3, read: 100, written: 35 });
  });

  it("adds costs up and says of how many requests they are", () => {
    const row = (group: string, requests: number, nano_usd: number | null, priced_requests: number) => ({ group, section: "", tokens: 0, requests, nano_usd, priced_requests });
    const groups = grouped([row("a", 3, 2_500_000, 3), row("b", 3, 1_500_000_000, 2), row("c", 1, null, 0)]);
    expect(groups.map(costOf)).toEqual(["$0.002500", "$1.50 of 2", "not known"]);
  });
});

describe("budgetAlert", () => {
  it("is said from four fifths on, and says when nothing is left", () => {
    expect(budgetAlert(799, 1000)).toBeUndefined();
    expect(budgetAlert(5, 0)).toBeUndefined();
    expect(budgetAlert(800, 1000)).toBe("80 % of today's budget is used: 200 of 1,000 tokens are left until midnight UTC.");
    expect(budgetAlert(1200, 1000)).toBe("Today's budget of 1,000 tokens is used up: requests are refused until midnight UTC.");
  });
});

describe("driftOf", () => {
  it("has the newest of each model last, and no requests without usage", () => {
    const trace = (model: string, drift: number | null) => ({ model, drift }) as TraceSummary;
    const drift = driftOf([trace("a", 3), trace("b", 0), trace("a", null), trace("a", -1)]);
    expect([...drift]).toEqual([
      ["a", [-1, 3]],
      ["b", [0]],
    ]);
  });
});

describe("sessionsOf", () => {
  it("groups requests that name a session", () => {
    const trace = (id: string, session: string) => ({ id, session }) as TraceSummary;
    const sessions = sessionsOf([trace("3", "a"), trace("2", ""), trace("1", "a")]);
    expect(sessions).toEqual([{ name: "a", turns: [trace("3", "a"), trace("1", "a")] }]);
  });
});

describe("placeOnRing", () => {
  it("begins above the middle, and aligns text away from it", () => {
    const places = [0, 1, 2, 3].map((i) => placeOnRing(i, 4));
    expect(places.map((one) => one.anchor)).toEqual(["middle", "start", "middle", "end"]);
    expect(places[0]?.y).toBeLessThan(places[2]?.y ?? 0);
    expect(new Set(places.map((one) => `${one.x} ${one.y}`)).size).toBe(4);
  });
});

describe("bodyOf", () => {
  const plain = { model: "m", index: "", policy: "", strategy: "RAG", order: "best-last", budget: "300", maxTokens: "", check: true, memory: false };
  it("asks for documents only with an index", () => {
    expect(bodyOf(plain, [], "s")).toEqual({ model: "m", messages: [], plimsoll: { explain: true, session: "s" } });
    expect(bodyOf({ ...plain, index: "i", maxTokens: "50" }, [], "s")).toEqual({
      model: "m",
      messages: [],
      max_tokens: 50,
      index_name: "i",
      plimsoll: { explain: true, session: "s", strategy: "RAG", order: "best-last", budget: 300, check: true },
    });
  });
});
