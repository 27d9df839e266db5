import { describe, expect, it } from "vitest";
import { applied, merged, mostKept, type LiveView } from "./live";
import type { TraceSummary } from "./types";

const trace = (id: string, part: Partial<TraceSummary> = {}) => ({ id, at_ms: 0, asked_model: "m", ...part }) as TraceSummary;
const ids = (traces: readonly TraceSummary[]) => traces.map((one) => one.id).join(" ");

describe("merged", () => {
  it("is newest first and has nothing twice", () => {
    const old = merged([], [trace("b"), trace("a")]);
    expect(ids(old)).toBe("b a");
    expect(ids(merged(old, [trace("c"), trace("b"), trace("d")]))).toBe("d c b a");
    expect(ids(merged(old, [trace("0")]))).toBe("b a 0");
    expect(merged(old, [])).toBe(old);
  });

  it("keeps a limited number", () => {
    const many = Array.from({ length: mostKept + 5 }, (_, i) => trace(String(1e9 + i)));
    expect(merged([], many)).toHaveLength(mostKept);
    expect(merged(merged([], many), [trace("2")])).toHaveLength(mostKept);
  });

  it("agrees with a slow way on random orders", () => {
    let seed = 7;
    const random = (most: number) => (seed = (seed * 48271) % 2147483647) % most;
    for (let round = 0; round < 200; round++) {
      const some = () => Array.from({ length: random(8) }, () => trace(String(10 + random(30))));
      const first = merged([], some());
      const more = some();
      const slow = [...new Set([...first, ...more].map((one) => one.id))].sort().reverse();
      expect(ids(merged(first, more))).toBe(slow.join(" "));
    }
  });
});

describe("applied", () => {
  const empty: LiveView = { state: "watching", traces: [], begun: [], lost: 0 };
  const event = (kind: string, data: object) => ({ event: kind, data: JSON.stringify(data) });

  it("moves a request from begun to finished", () => {
    const begun = applied(empty, [event("begun", trace("a")), event("begun", trace("b"))]);
    expect(begun.begun.map((one) => one.id)).toEqual(["a", "b"]);
    const done = applied(begun, [event("trace", trace("a")), event("lost", { lost: 3 }), event("lost", { lost: 1 })]);
    expect(done.begun.map((one) => one.id)).toEqual(["b"]);
    expect(ids(done.traces)).toBe("a");
    expect(done.lost).toBe(4);
  });
});
