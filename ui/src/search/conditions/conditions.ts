// Conditions on what is said, shown and heard in the moments of a search or question. The service takes them
// as the filter `where`, an expression of docs/intervals.md. The address holds its JSON, so that a link can have any
// expression; the page offers the terms below.
import { en } from "../../i18n/en";
import { m } from "../../i18n/language.svelte";

type PlainTerm = keyof typeof en.where.plain;
export type WordTerm = keyof typeof en.where.worded;

/** Terms without words, and those with words: what is said, read or seen, or who speaks. */
export const PLAIN_TERMS = Object.keys(en.where.plain) as PlainTerm[];
export const WORD_TERMS = Object.keys(en.where.worded) as WordTerm[];

/**
 * A condition that holds at the same time as the others. `words` is empty for a term without words. An
 * expression that the page does not offer is `other`, with its JSON as `words`.
 */
export type Condition = { term: PlainTerm | WordTerm | "other"; words: string; exclude: boolean };

const isPlainTerm = (name: string): name is PlainTerm => Object.hasOwn(en.where.plain, name);
const isWordTerm = (name: string): name is WordTerm => Object.hasOwn(en.where.worded, name);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The expression to send. Text that is not JSON, e.g. of a shortened link, is sent for the service to reject. */
export function whereExpression(where: string): unknown {
  try {
    return JSON.parse(where) as unknown;
  } catch {
    return where;
  }
}

/** The conditions of an expression in JSON, each once; none if it is empty. */
export function parseConditions(where: string): Condition[] {
  if (!where) return [];
  const expression = whereExpression(where);
  const isList =
    isObject(expression) && Object.keys(expression).length === 1 && Array.isArray(expression.all);
  const operands: unknown[] = isList ? (expression.all as unknown[]) : [expression];
  const all = operands.map((one) => parseCondition(one) ?? otherCondition(one));
  return all.filter((one, index) => all.findIndex((other) => isSameCondition(one, other)) === index);
}

/** A condition that the page offers, or null. */
function parseCondition(expression: unknown, exclude = false): Condition | null {
  if (!isObject(expression)) return null;
  const [[term, value] = ["", null], ...options] = Object.entries(expression);
  if (options.length) return null;
  if (term === "not" && !exclude) return parseCondition(value, true);
  // The service writes its canonical form.
  const isPlain = value === true || JSON.stringify(value) === '{"at_least":1}';
  if (isPlainTerm(term) && isPlain) return { term, words: "", exclude };
  if (isWordTerm(term) && typeof value === "string") return { term, words: value, exclude };
  return null;
}

const otherCondition = (expression: unknown): Condition => ({
  term: "other",
  words: typeof expression === "string" ? expression : JSON.stringify(expression),
  exclude: false,
});

/** The expression of all conditions as JSON; empty if there are none. */
export function formatConditions(conditions: Condition[]): string {
  const operands = conditions.map(conditionExpression);
  if (!operands.length) return "";
  return JSON.stringify(operands.length === 1 ? operands[0] : { all: operands });
}

function conditionExpression({ term, words, exclude }: Condition): unknown {
  if (term === "other") return whereExpression(words);
  const expression = { [term]: isPlainTerm(term) ? true : words };
  return exclude ? { not: expression } : expression;
}

const isSameTerm = (one: Condition, other: Condition) => one.term === other.term && one.words === other.words;

export const isSameCondition = (one: Condition, other: Condition) =>
  isSameTerm(one, other) && one.exclude === other.exclude;

/** The conditions with another one, which replaces its opposite. */
export const withCondition = (conditions: Condition[], added: Condition): Condition[] => [
  ...conditions.filter((one) => !isSameTerm(one, added)),
  added,
];

/** What a condition means, in words. */
export function describeCondition({ term, words, exclude }: Condition): string {
  if (term === "other") return words;
  const sense = exclude ? "absent" : "present";
  return isPlainTerm(term) ? m.where.plain[term][sense] : m.where.worded[term][sense](words);
}

/** What each condition means, in words. */
export const describeWhere = (where: string): string[] => parseConditions(where).map(describeCondition);
