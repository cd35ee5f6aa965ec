import { describe, expect, it } from "vitest";
import { link, parse } from "./address.svelte";

describe("an address", () => {
  it("round-trips its parameters", () => {
    const says = {
      q: "a boat & “more”",
      video: ["00c0ffee00c0ffee", "x/y"],
      alike: 0.5,
      answer: true,
      where: '{"all":[{"says":"a & b"},{"not":{"sees":"car"}}]}',
      filters: { objects: ["boat", "a, b"], min_people: ["2"] },
    };
    expect(parse(link("search", says))).toMatchObject({ page: "search", ...says });
    const moment = { t: 12.346, range: { start: 1.5, end: 20 }, tab: "people" };
    expect(parse(link("videos", moment, "a b"))).toMatchObject({ page: "videos", id: "a b", ...moment });
  });

  it("omits defaults and unknown parameters", () => {
    expect(link("search", { q: "", video: [], alike: null, answer: false, where: "" })).toBe("#/search");
    expect(parse("#/jobs?q=boat&where={}&filter.objects=boat")).toMatchObject({
      page: "jobs",
      q: "",
      where: "",
      filters: {},
    });
  });

  it("ignores invalid values", () => {
    for (const query of ["t=", "t=x", "t=Infinity", "range=5-2", "range=5", "range=a-b", "range=-1-2"]) {
      expect(parse(`#/videos/1?${query}`), query).toMatchObject({ t: null, range: null });
    }
    expect(parse("#/videos/%E0%A4%A").id).toBe("%E0%A4%A");
  });

  it("parses older links", () => {
    expect(parse("#/video/1?t=3")).toMatchObject({ page: "videos", id: "1", t: 3 });
    expect(parse("")).toMatchObject({ page: "", id: "" });
  });
});
