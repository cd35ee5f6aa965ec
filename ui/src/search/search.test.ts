import { describe, expect, it } from "vitest";
import { parse } from "../state/address.svelte";
import {
  searchParams,
  hasCriteria,
  groupHits,
  unsatisfiableFilters,
  mergeSplitSentences,
  availableFilters,
  describeCriteria,
  overlapFilters,
  searchRequest,
  typedFilters,
  withoutExample,
} from "./search";
import { setServiceLabels } from "../i18n/service-labels.svelte";
import type { Schema } from "../api/types";

const filterSpec = (type: string) => ({ type, matches: "any", payload_field: "" });
const schema = {
  filters: {
    objects: filterSpec("list[str]"),
    speakers: filterSpec("list[str]"),
    people: filterSpec("list[str]"),
    min_people: filterSpec("int"),
    after: filterSpec("float"),
    recorded_after: filterSpec("time"),
    metadata: filterSpec("dict"),
    bin: filterSpec("bin"),
    video_ids: filterSpec("list[str]"),
  },
  filter_analyzers: {
    objects: ["default_video", "object_detection"],
    speakers: ["diarization"],
    people: ["default_video"],
    min_people: [],
  },
  metadata_keys: { take: "number", camera: "string", raw: "boolean" },
} as unknown as Schema;
setServiceLabels([{ id: "diarization", label: "Speech by speaker" }]);

describe("a sentence split between two chunks", () => {
  const half = (start: number, end: number, said: string, description = "One two three. Four five.") =>
    ({
      video_id: "a",
      start,
      end,
      description,
      moment_id: `m_${start}`,
      found_by: ["ocr"],
      turns: [{ text: said }],
    }) as unknown as Parameters<typeof mergeSplitSentences>[0][number];

  it("is merged into one result", () => {
    for (const hits of [
      [half(0, 5, "One two"), half(5, 9, "three. Four five.")],
      [half(5, 9, "three. Four five."), half(0, 5, "One two")],
    ]) {
      const [whole, ...rest] = mergeSplitSentences(hits);
      expect(rest).toEqual([]);
      expect([whole?.start, whole?.end, whole?.moment_id]).toEqual([0, 9, undefined]);
      expect(whole?.turns?.map(({ text }) => text)).toEqual(["One two", "three. Four five."]);
    }
  });

  it("is not merged from unrelated neighbours", () => {
    for (const other of [
      half(6, 9, "three. Four five."),
      half(5, 9, "Four five."),
      half(5, 9, "three. Four five.", "Something else is said."),
    ])
      expect(mergeSplitSentences([half(0, 5, "One two"), other])).toHaveLength(2);
  });
});

describe("groupHits", () => {
  const hit = (video_id: string, start: number, recorded_at?: string) =>
    ({ video_id, start, end: start + 1, recorded_at }) as Parameters<typeof groupHits>[0][number];
  const hits = [hit("b", 9), hit("a", 5, "2026-02-01"), hit("b", 1), hit("c", 2, "2026-01-01")];
  const groups = (order: string) =>
    groupHits(hits, order).map(({ video, hits }) => [video, ...hits.map((one) => one.video_id + one.start)]);

  it("groups by video in order of relevance, or sorts by time", () => {
    expect(groups("")).toEqual([["", "b9", "a5", "b1", "c2"]]);
    expect(groups("video")).toEqual([
      ["b", "b9", "b1"],
      ["a", "a5"],
      ["c", "c2"],
    ]);
    expect(groups("time")).toEqual([["", "c2", "a5", "b1", "b9"]]);
  });
});

describe("a search request", () => {
  it("searches everything by default", () => {
    expect(searchRequest(searchParams(parse("#/search?q=+boat+")), schema)).toEqual({
      text: "boat",
      video_ids: null,
      analyzer: "*",
      field: "combined",
      limit: 12,
      synthesize: false,
      score_threshold: null,
      min_p_present: null,
      rerank: true,
      filters: {},
      pages: true,
    });
    const more = "q=x&video=1&video=2&analyzer=ocr&mode=text&limit=500&alike=0&answer=1";
    expect(searchRequest(searchParams(parse(`#/search?${more}`)), schema)).toMatchObject({
      video_ids: ["1", "2"],
      analyzer: "ocr",
      mode: "text",
      limit: 50,
      score_threshold: 0,
      synthesize: true,
    });
  });

  it("lists by filters without text, or finds similar moments", () => {
    const requestFor = (query: string) => searchRequest(searchParams(parse(`#/search?${query}`)), schema);
    const scope = { analyzer: "*", field: "combined", limit: 12, synthesize: false, pages: true };
    const filters = { objects: ["boat"] };
    // A listing has no scores to filter by.
    const list = requestFor("filter.objects=boat&mode=text&sure=0.5&alike=0.3&answer=1");
    expect(list).toEqual({ order: "newest", ...scope, video_ids: null, filters });
    const where = encodeURIComponent('{"not":{"sees":"car"}}');
    expect(requestFor(`where=${where}`)).toEqual({
      order: "newest",
      ...scope,
      video_ids: null,
      filters: { where: { not: { sees: "car" } } },
    });
    expect(requestFor(`q=boat&where=${where}`)).toMatchObject({
      text: "boat",
      filters: { where: { not: { sees: "car" } } },
    });
    expect(requestFor("like=m_a_1_2&sure=0.5&alike=0.3&video=1")).toEqual({
      like: "m_a_1_2",
      ...scope,
      video_ids: ["1"],
      score_threshold: 0.3,
      filters: {},
    });
    expect(requestFor("like=m_a_1_2&q=boat")).toMatchObject({ text: "boat" });
    expect(requestFor("picture=p_1&region=0,0,0.5,1&sure=0.5&alike=0.3&mode=text&field=objects")).toEqual({
      ...scope,
      field: "visual",
      region: [0, 0, 0.5, 1],
      video_ids: null,
      score_threshold: 0.3,
      filters: {},
    });
    expect(requestFor("picture=p_1&region=2,0,0.5,1")).not.toHaveProperty("region");
    expect(requestFor("picture=p_1&q=boat")).toMatchObject({ text: "boat", field: "combined" });
    const any = (query: string) => hasCriteria(searchParams(parse(`#/search?${query}`)));
    expect(
      ["q=+", "sure=0.5", "q=x", "like=m", "picture=p_1", "video=1", "where={}", "filter.objects=boat"].map(
        any,
      ),
    ).toEqual([false, false, true, true, true, true, true, true]);
  });

  it("drops the example that a text replaces", () => {
    const search = (query: string) => withoutExample(searchParams(parse(`#/search?${query}`)));
    expect(search("like=m_a_1_2&field=visual")).toMatchObject({ like: "", field: "" });
    expect(search("picture=p_1&region=0,0,1,1&field=visual")).toMatchObject({
      picture: "",
      region: "",
      field: "visual",
    });
  });

  it("filters moments that overlap a range", () => {
    const filters = { overlaps_after: filterSpec("float"), overlaps_before: filterSpec("float") };
    const service = { ...schema, filters } as unknown as Schema;
    expect(typedFilters(overlapFilters({ start: 10, end: 20.5 }), service)).toEqual({
      overlaps_after: 10.001,
      overlaps_before: 20.499,
    });
  });

  it("limits a search to a bin, which is described by its name", () => {
    const search = searchParams(parse("#/search?q=boat&filter.bin=0123456789ab&filter.objects=buoy"));
    expect(searchRequest(search, schema)).toMatchObject({
      filters: { bin: "0123456789ab", objects: ["buoy"] },
    });
    expect(describeCriteria(search, () => "Harbour")).toEqual(["In bin Harbour", "Objects: buoy"]);
    expect(availableFilters(schema, "")).not.toContain("bin");
  });

  it("uses text mode for a quoted phrase, unless a mode is chosen", () => {
    const sent = (q: string, more = "") =>
      searchRequest(searchParams(parse(`#/search?q=${encodeURIComponent(q)}${more}`)), schema);
    expect(sent('"grey cat"')).toMatchObject({ text: '"grey cat"', mode: "text" });
    for (const typed of ["\u201cgrey cat\u201d", "\u201egrey cat\u201c", "\u00abgrey cat\u00bb"])
      expect(sent(typed)).toMatchObject({ text: '"grey cat"', mode: "text" });
    expect(sent('"grey cat"', "&mode=hybrid")).toMatchObject({ mode: "hybrid" });
    for (const none of ["grey cat", 'a 3" pipe', 'from 3" to 4" pipes', '""'])
      expect(sent(none)).not.toHaveProperty("mode");
  });

  it("converts filters to the types in the schema", () => {
    const filters = {
      objects: ["boat", " ", "a, b"],
      min_people: ["2"],
      after: ["1.5"],
      recorded_after: ["2026-01-01T00:00Z"],
      metadata: ["take=2", "take=3", "camera=a=b", "raw=true"],
      unknown: ["x"],
      people: [""],
    };
    const both = { objects: ["boat", "car"], people: ["a man"] };
    expect(typedFilters(both, schema, ["objects", "people"])).toEqual({
      objects: { all: ["boat", "car"] },
      people: ["a man"],
    });
    expect(typedFilters(filters, schema)).toEqual({
      objects: ["boat", "a, b"],
      min_people: 2,
      after: 1.5,
      recorded_after: "2026-01-01T00:00:00.000Z",
      metadata: { take: [2, 3], camera: "a=b", raw: true },
    });
  });

  it("offers only filters that can match", () => {
    expect(availableFilters(schema, "")).toEqual([
      "objects",
      "speakers",
      "people",
      "after",
      "recorded_after",
      "metadata",
    ]);
    expect(availableFilters(schema, "", new Set(["default_video"]))).not.toContain("speakers");
    expect(availableFilters(schema, "diarization")).toEqual([
      "speakers",
      "after",
      "recorded_after",
      "metadata",
    ]);
  });

  it("explains why requested filters cannot match", () => {
    const why = (filters: Record<string, string[]>, analyzer = "") =>
      unsatisfiableFilters(filters, analyzer, schema, new Set(["default_video", "diarization"]));
    expect(why({ objects: ["boat"], people: ["a man"] })).toEqual([]);
    expect(why({ speakers: ["S1"] })).toEqual([]);
    expect(why({ min_people: ["1"] })[0]).toContain("not available");
    expect(why({ speakers: ["S1"] }, "default_video")[0]).toContain("Speech by speaker");
    expect(why({ speakers: ["S1"], objects: ["boat"] })[0]).toContain("no moment can match all");
    expect(why({ colour: ["red"] })[0]).toContain("Unknown filter");
    expect(unsatisfiableFilters({ speakers: ["S1"] }, "", schema, new Set(["ocr"]))[0]).toContain(
      "no video here",
    );
  });
});
