import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AnswerText, marked } from "./answer_text";
import { dollars, duration, percent, place, short, signed } from "./format";
import { visible } from "./prompt";
import { changes } from "./replan";
import { VirtualList } from "./virtual_list";
import { WindowBar } from "./window_bar";
import { partsOf } from "./window_parts";
import type { Piece } from "../api/types";

const section = (name: string, used: number) => ({ name, used, grant: used });

describe("partsOf", () => {
  it("divides the whole window", () => {
    const parts = partsOf({
      window: 1000,
      sections: [section("history", 300), section("system", 50), section("template", 10), section("answer", 0), section("question", 20)],
      input_tokens: 385,
      thinking_tokens: 0,
      answer_tokens: 500,
      margin: 15,
    });
    expect(parts.map((part) => part.name)).toEqual(["template", "system", "history", "question", "answer", "margin", "left"]);
    expect(parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(1000);
    // Tokens that belong to no section are the format's.
    expect(parts[0]).toEqual({ name: "template", tokens: 15 });
  });

  it("draws a request without a plan as one part", () => {
    const parts = partsOf({ window: 100, sections: [], input_tokens: 40, thinking_tokens: 0, answer_tokens: 0, margin: 0 });
    expect(parts).toEqual([
      { name: "prompt", tokens: 40 },
      { name: "left", tokens: 60 },
    ]);
  });
});

describe("components", () => {
  let box: HTMLElement;
  beforeEach(() => {
    box = document.body.appendChild(document.createElement("div"));
  });
  afterEach(() => {
    render(null, box);
    box.remove();
  });
  const show = (what: preact.ComponentChildren) => act(() => render(what, box));

  it("gives each part of the bar the width of its tokens", async () => {
    await show(<WindowBar parts={[{ name: "history", tokens: 30 }, { name: "answer", tokens: 50 }]} window={100} />);
    const rects = [...box.querySelectorAll("rect")].map((one) => [one.getAttribute("x"), one.getAttribute("width")]);
    expect(rects).toEqual([
      ["0", "30"],
      ["30", "50"],
    ]);
    expect(box.querySelector("svg")?.getAttribute("viewBox")).toBe("0 0 100 1");
    expect(box.querySelector("svg")?.getAttribute("aria-label")).toContain("history 30, answer 50");
  });

  it("shows markup in answers as text", async () => {
    const text = "A <b>bold</b> claim. Another.";
    await show(<AnswerText text={text} sentences={[{ text: "A <b>bold</b> claim.", verdict: "supported", passages: [2], reason: null }]} onSource={() => {}} />);
    expect(box.querySelector("b")).toBeNull();
    expect(box.querySelector(".supported")?.textContent).toBe("A <b>bold</b> claim.2");
    expect(box.textContent).toContain(" Another.");
  });

  it("holds only the rows that can be seen", async () => {
    const items = Array.from({ length: 100_000 }, (_, i) => String(i));
    await show(<VirtualList items={items} rowHeight={20} label="numbers" keyOf={(item) => item} row={(item) => <span>{item}</span>} />);
    const rows = box.querySelectorAll("li");
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThan(60);
    expect(rows[0]?.getAttribute("aria-setsize")).toBe("100000");
  });
});

describe("marked", () => {
  it("keeps every character of the answer", () => {
    const answer = "One. Two?  Three! And more";
    const sentences = ["One.", "Three!", "not there"].map((text) => ({ text, verdict: "supported", passages: [], reason: null }));
    const parts = marked(answer, sentences);
    expect(parts.map((part) => part.text).join("")).toBe(answer);
    expect(parts.filter((part) => part.verdict).map((part) => part.text)).toEqual(["One.", "Three!"]);
  });
});

describe("visible", () => {
  it("names every character that a page would hide, and keeps the others", () => {
    const hostile = "<|im_start|>user\n\tA\u202Eb\u0000\u001B[31m\u200Bé\u{E0041}🙂\uFEFF";
    const pieces = visible(hostile);
    expect(pieces.map((one) => one.text).join("")).toBe(hostile);
    expect(pieces.filter((one) => one.code).map((one) => one.code)).toEqual(["U+202E", "U+0000", "U+001B", "U+200B", "U+E0041", "U+FEFF"]);
    expect(pieces[0]).toEqual({ text: "<|im_start|>user\n\tA" });
    expect(pieces.some((one) => one.text === "é" || one.text === "🙂")).toBe(true);
    expect(visible("\u202E")).toEqual([{ text: "\u202E", code: "U+202E" }]);
    expect(visible("")).toEqual([]);
  });
});

describe("dollars", () => {
  it("has as many digits as the amount needs", () => {
    expect([0, 1, 999, 1_000, 1_234_567, 1e9, 1_234_565_000_000].map(dollars)).toEqual(["$0.000000", "$0.000000001", "$0.000000999", "$0.000001", "$0.001235", "$1.00", "$1,234.57"]);
  });
});

describe("changes", () => {
  it("names the pieces that come and go", () => {
    const piece = (id: string, fate: Piece["fate"], section = "history"): Piece => ({ section, id, tokens: 1, fate, reason: "" });
    const { come, go } = changes([piece("a", "kept"), piece("b", "dropped"), piece("c", "kept")], [piece("a", "dropped"), piece("b", "kept"), piece("c", "kept")]);
    expect(come.map((one) => one.id)).toEqual(["b"]);
    expect(go.map((one) => one.id)).toEqual(["a"]);
  });
});

describe("format", () => {
  it("writes numbers as people read them", () => {
    expect(short(8192)).toBe("8.2 K");
    expect(short(128_000)).toBe("128 K");
    expect(short(12)).toBe("12");
    expect(duration(950)).toBe("950 µs");
    expect(duration(2_500_000)).toBe("2.5 s");
    expect(percent(0.5)).toBe("50 %");
    expect(signed(-3)).toBe("−3");
    expect(place({ first_line: 4, last_line: 9 })).toBe("lines 4–9");
    expect(place({ page: 2, first_line: 1 })).toBe("page 2");
  });
});
