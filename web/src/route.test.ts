import { describe, expect, it } from "vitest";
import { documentLink, link, routeOf } from "./route";

describe("routeOf", () => {
  it("reads what link writes", () => {
    const hostile = "a/b?c#d%<script>\u202E é";
    expect(routeOf(link("document", "in dex", hostile))).toMatchObject({ page: "document", rest: ["in dex", hostile] });
    const opened = routeOf(documentLink("i", hostile, 10, 25));
    expect(opened.rest).toEqual(["i", hostile]);
    expect(opened.query.get("start")).toBe("10");
    expect(opened.query.get("end")).toBe("25");
  });

  it("shows the live page for anything else", () => {
    expect(routeOf("").page).toBe("live");
    expect(routeOf("#/").page).toBe("live");
    expect(routeOf("#/trace/%E0%A4%A").rest).toEqual(["%E0%A4%A"]);
  });
});
