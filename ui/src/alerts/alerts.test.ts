import { describe, expect, it } from "vitest";
import { link, parse } from "../state/address.svelte";
import {
  alertRequest,
  alertSearch,
  changeRequest,
  countRequest,
  hasTarget,
  matchText,
  suggestName,
} from "./alerts";
import { searchParams } from "../search/search";
import type { Alert, Schema } from "../api/types";

const filterSpec = (type: string) => ({ type, matches: "any", payload_field: "" });
const schema = {
  filters: {
    objects: filterSpec("list[str]"),
    tags: filterSpec("list[str]"),
    min_people: filterSpec("int"),
    metadata: filterSpec("dict"),
  },
  metadata_keys: { camera: "string", take: "number" },
} as unknown as Schema;

describe("an alert", () => {
  it("is created from a search, without its video scope", () => {
    const search = searchParams(
      parse(
        "#/search?q=a+red+car&video=x&mode=text&alike=0.3&every=objects&filter.objects=car&filter.objects=dog" +
          "&filter.min_people=2&filter.metadata=camera%3Dnorth&filter.metadata=take%3D3&filter.metadata=take%3D4",
      ),
    );
    const alert = alertRequest(search, schema, "https://example.org/hook", 0.7);
    expect(alert).toEqual({
      text: "a red car",
      analyzer: "*",
      field: "combined",
      mode: "text",
      filters: {
        objects: { all: ["car", "dog"] },
        min_people: 2,
        metadata: { camera: "north", take: [3, 4] },
      },
      score_threshold: 0.3,
      min_p_present: 0.7,
      webhook: "https://example.org/hook",
    });
  });

  it("round-trips through a search link", () => {
    const alert = {
      text: "a red car",
      analyzer: "ocr",
      field: "objects",
      mode: "vector",
      filters: {
        where: { not: { sees: "car" } },
        tags: ["street", "night"],
        objects: { all: ["car", "dog"] },
        metadata: { camera: "north" },
      },
      score_threshold: null,
      min_p_present: 0.5,
    };
    const search = searchParams(parse(link("search", alertSearch(alert as unknown as Alert))));
    expect(alertRequest(search, schema, "", 0.5)).toEqual({ ...alert, webhook: null });
  });

  it("is changed without its webhook unless that has changed", () => {
    const alert = { name: "cars", text: "a car", webhook: "https://a/?key=REDACTED" } as unknown as Alert;
    const search = searchParams(parse("#/search?q=a+van"));
    const change = (name: string, webhook: string) =>
      changeRequest(alert, name, alertRequest(search, schema, webhook, 0.5));
    const kept = change("cars", "https://a/?key=REDACTED");
    expect(kept).toMatchObject({ text: "a van", mode: null });
    expect(Object.keys(kept)).not.toContain("webhook");
    expect(Object.keys(kept)).not.toContain("name");
    expect(change("vans", "")).toMatchObject({ name: "vans", webhook: null });
  });

  it("needs a text, or filters or conditions", () => {
    const has = (address: string) => hasTarget(searchParams(parse(address)));
    expect(has("#/search?q=car")).toBe(true);
    expect(has("#/search?filter.tags=night")).toBe(true);
    expect(has('#/search?where={"said":true}')).toBe(true);
    expect(has("#/search?video=x")).toBe(false);
    expect(has("#/search?like=m_0123456789abcdef_0_1000&filter.tags=night")).toBe(false);
  });

  it("is counted in all videos at any confidence", () => {
    const search = searchParams(parse("#/search?q=car&sure=0.9&video=x&limit=3&alike=0.2"));
    expect(countRequest(search, schema)).toMatchObject({
      text: "car",
      video_ids: null,
      limit: 50,
      min_p_present: null,
      score_threshold: 0.2,
      rerank: false,
    });
    const listing = countRequest(searchParams(parse("#/search?filter.tags=night")), schema);
    expect(listing).toMatchObject({ order: "newest", filters: { tags: ["night"] } });
    expect(Object.keys(listing)).not.toContain("rerank");
  });

  it("gets a name from its query", () => {
    expect(suggestName("A red car, “Café”!")).toBe("a-red-car-cafe");
    expect(suggestName("…")).toBe("");
  });

  it("shows the text of a match without a cut word", () => {
    const words = "boat ".repeat(50);
    expect(matchText({ snippet: words.slice(0, 180) })).toBe(`${words.slice(0, 179)}…`);
    expect(matchText({ snippet: words.slice(2, 182) })).toBe(`${words.slice(2, 179)}…`);
    expect(matchText({ snippet: words.slice(0, 178) })).toBe(words.slice(0, 178));
  });
});
