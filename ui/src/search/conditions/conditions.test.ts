import { describe, expect, it } from "vitest";
import { link, parse } from "../../state/address.svelte";
import { searchParams, searchRequest } from "../search";
import {
  describeWhere,
  formatConditions,
  parseConditions,
  withCondition,
  type Condition,
} from "./conditions";

const condition = (term: Condition["term"], words = "", exclude = false): Condition => ({
  term,
  words,
  exclude,
});
const expressionOf = (...conditions: Condition[]) => {
  const where = formatConditions(conditions);
  return where && (JSON.parse(where) as unknown);
};

/** Each condition that the page offers, with its expression and its words. */
const OFFERED: [Condition, unknown, string][] = [
  [condition("speech"), { speech: true }, "speech"],
  [condition("speech", "", true), { not: { speech: true } }, "no speech"],
  [condition("people"), { people: true }, "people"],
  [condition("people", "", true), { not: { people: true } }, "no people"],
  [condition("says", "ferry"), { says: "ferry" }, "says “ferry”"],
  [condition("says", "ferry", true), { not: { says: "ferry" } }, "does not say “ferry”"],
  [condition("reads", "fog"), { reads: "fog" }, "“fog” on screen"],
  [condition("reads", "fog", true), { not: { reads: "fog" } }, "“fog” not on screen"],
  [condition("sees", "car"), { sees: "car" }, "with car"],
  [condition("sees", "car", true), { not: { sees: "car" } }, "without car"],
  [condition("speaker", "Ada"), { speaker: "Ada" }, "Ada speaks"],
  [condition("speaker", "Ada", true), { not: { speaker: "Ada" } }, "Ada does not speak"],
];

describe("conditions", () => {
  it("are an expression, and back, with a meaning in words", () => {
    for (const [one, expression, words] of OFFERED) {
      expect(expressionOf(one), words).toEqual(expression);
      expect(parseConditions(JSON.stringify(expression)), words).toEqual([one]);
      expect(describeWhere(JSON.stringify(expression))).toEqual([words]);
    }
  });

  it("all hold at once", () => {
    const all = OFFERED.map(([one]) => one);
    expect(expressionOf(...all)).toEqual({ all: OFFERED.map(([, expression]) => expression) });
    expect(parseConditions(formatConditions(all))).toEqual(all);
    expect(formatConditions([])).toBe("");
    expect(parseConditions("")).toEqual([]);
  });

  it("replace their opposite and are not repeated", () => {
    const [speech, none] = [condition("speech"), condition("speech", "", true)];
    expect(withCondition([speech, condition("people")], none)).toEqual([condition("people"), none]);
    const [car, dog] = [condition("sees", "car"), condition("sees", "dog")];
    expect(withCondition([car, dog], condition("sees", "car", true))).toEqual([
      dog,
      condition("sees", "car", true),
    ]);
    expect(withCondition([dog], dog)).toEqual([dog]);
    expect(parseConditions('{"all":[{"sees":"dog"},{"sees":"dog"}]}')).toEqual([dog]);
  });

  it("keep expressions that the page does not offer", () => {
    for (const expression of [
      { any: [{ speech: true }, { people: true }] },
      { sees: "car", min_probability: 0.9 },
      { people: { at_least: 3 } },
      { silence: true },
      { not: { not: { speech: true } } },
      { all: [{ speech: true }], within: 5 },
      {},
    ]) {
      const where = JSON.stringify(expression);
      expect(parseConditions(where), where).toEqual([condition("other", where)]);
      expect(describeWhere(where)).toEqual([where]);
      expect(formatConditions(parseConditions(where))).toBe(where);
      const both = withCondition(parseConditions(where), condition("says", "fog"));
      expect(expressionOf(...both)).toEqual({ all: [expression, { says: "fog" }] });
    }
  });

  it("keep text that is not JSON, for the service to reject", () => {
    const cut = '{"all":[{"speech":tr';
    expect(describeWhere(cut)).toEqual([cut]);
    expect(searchRequest(searchParams(parse(link("search", { where: cut }))), null).filters).toEqual({
      where: cut,
    });
  });

  it("survive the address of a search and of a question", () => {
    const all = [condition("says", 'a "big" boat & “more” + 5%'), condition("sees", "Auto/Zug", true)];
    const where = formatConditions(all);
    expect(parseConditions(parse(link("search", { where })).where)).toEqual(all);
    expect(parseConditions(parse(link("ask", { where })).where)).toEqual(all);
    expect(parse("#/search").where).toBe("");
    expect(link("search", { where: "" })).toBe("#/search");
  });
});
