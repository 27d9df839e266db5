import { describe, expect, it } from "vitest";
import { EventParser } from "./events";

describe("EventParser", () => {
  it("reads events that arrive in any pieces", () => {
    const text = ': hello\n\nevent: trace\ndata: {"a":1}\n\ndata: x\ndata: y\n\nevent: lost\r\ndata: 3\r\n\r\n';
    const whole = new EventParser().feed(text);
    expect(whole).toEqual([
      { event: "trace", data: '{"a":1}' },
      { event: "message", data: "x\ny" },
      { event: "lost", data: "3" },
    ]);
    for (let cut = 1; cut < 40; cut++) {
      const parser = new EventParser();
      expect([...parser.feed(text.slice(0, cut)), ...parser.feed(text.slice(cut))]).toEqual(whole);
    }
  });

  it("waits for the end of an event", () => {
    const parser = new EventParser();
    expect(parser.feed("data: a\n")).toEqual([]);
    expect(parser.feed("\n")).toEqual([{ event: "message", data: "a" }]);
  });
});
