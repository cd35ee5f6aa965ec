// Components contain no display text: it would exist in one language only. All text is in the catalogues.
import { parse } from "svelte/compiler";
import { expect, it } from "vitest";

type Node = { type: string; [field: string]: unknown };

/** Attributes and component props that hold display text. */
const TEXT_ATTRIBUTES = [
  "aria-label",
  "aria-valuetext",
  "title",
  "placeholder",
  "alt",
  "label",
  "none",
  "text",
  "value",
];
/** Names that are the same in every language. */
const NAMES = ["Shotlog", "API", "English", "Deutsch", "https://example.org/clip.mp4"];
/** Display text: several words, or one capitalised word. */
const SENTENCE = /\p{L}{2,}[.,:;]? \p{L}|^\p{Lu}\p{Ll}+([ .:…!?]|$)/u;
/** Identifiers: keys, headers, fonts, media types, elements. */
const CODE =
  /^(Arrow\w+|Enter|Tab|Escape|Backspace|Home|End|Page(Up|Down)|Content-Type|Accept|Files|Cancelled)$|^\d+px |^\w+\/\S+, |^(input|textarea|button), /;
/** Functions whose string arguments are not display text. */
const IGNORED_CALLS = ["closest", "matches", "querySelector", "matchMedia", "split"];

const hasWords = (text: string) => /\p{L}{2,}/u.test(text) && !NAMES.includes(text.trim());

/** Literal display texts in a component. */
function texts(source: string): string[] {
  const found: string[] = [];
  const tree = parse(source, { modern: true });
  const visit = (node: unknown, parents: Node[]) => {
    if (Array.isArray(node)) return node.forEach((one) => visit(one, parents));
    if (!node || typeof node !== "object") return;
    const one = node as Node;
    if (typeof one.type === "string") collect(one, parents);
    const inner = typeof one.type === "string" ? [...parents, one] : parents;
    for (const [field, value] of Object.entries(one)) if (field !== "parent") visit(value, inner);
  };
  const isIgnored = (parents: Node[]) => {
    const parent = parents.at(-1);
    const { name, property } = (parent?.callee ?? parent ?? {}) as { name?: string; property?: Node };
    return (
      parents.some(({ type }) => type === "TSLiteralType" || type.startsWith("Import")) ||
      parents.some(({ type, name }) => type === "Attribute" && name === "class") ||
      IGNORED_CALLS.includes(String(property?.name ?? name))
    );
  };
  const isDisplayText = (text: string) => SENTENCE.test(text) && !CODE.test(text) && !NAMES.includes(text);
  const collect = (node: Node, parents: Node[]) => {
    if (node.type === "Text") {
      const attribute = parents.findLast(({ type }) => type === "Attribute")?.name as string | undefined;
      const shown = !attribute || TEXT_ATTRIBUTES.includes(attribute);
      if (shown && hasWords(node.data as string)) found.push(node.data as string);
    } else if (node.type === "Literal" && typeof node.value === "string") {
      if (isDisplayText(node.value) && !isIgnored(parents)) found.push(node.value);
    } else if (node.type === "TemplateElement") {
      const { raw } = node.value as { raw: string };
      if (isDisplayText(raw.trim()) && !isIgnored(parents)) found.push(raw);
    }
  };
  visit(tree.fragment, []);
  visit(tree.instance, []);
  visit(tree.module, []);
  return found.map((text) => text.trim());
}

const components = import.meta.glob<string>("../**/*.svelte", {
  query: "?raw",
  import: "default",
  eager: true,
});
const modules = import.meta.glob<string>(
  ["../**/*.ts", "!../i18n/{de,en}/*", "!**/*.test.ts", "!**/*.d.ts"],
  {
    query: "?raw",
    import: "default",
    eager: true,
  },
);

it("detects text in markup, attributes and scripts", () => {
  const component = `<script>toast("It is done.");</script>
    <h1 class="two words" aria-label="Title">Text <b>{busy ? "Sending…" : m.add}</b></h1>
    <p title={\`All \${count} of them\`}>{"one of many"}</p>`;
  expect(texts(component)).toEqual([
    "Title",
    "Text",
    "Sending…",
    "All",
    "of them",
    "one of many",
    "It is done.",
  ]);
});

for (const [file, source] of Object.entries(components)) {
  it(`${file} has no hardcoded text`, () => expect(texts(source)).toEqual([]));
}
for (const [file, source] of Object.entries(modules)) {
  it(`${file} has no hardcoded text`, () =>
    expect(texts(`<script lang="ts">${source}</script>`)).toEqual([]));
}
