// No text of the page stands in its parts: it would be in one language alone.
import { parse } from "svelte/compiler";
import { expect, it } from "vitest";

type Node = { type: string; [field: string]: unknown };

/** Attributes that are read by somebody; those of components too, by the names that ours have. */
const READ = [
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
/** What is called so in every language. */
const NAMES = ["Shotlog", "API", "English", "Deutsch", "https://example.org/clip.mp4"];
/** Words to read: several of them, or one that begins as a sentence does. */
const SENTENCE = /\p{L}{2,}[.,:;]? \p{L}|^\p{Lu}\p{Ll}+([ .:…!?]|$)/u;
/** Names that code has: keys, headers, fonts, media types, elements. */
const CODE =
  /^(Arrow\w+|Enter|Escape|Backspace|Home|End|Page(Up|Down)|Content-Type|Accept|Files|Cancelled)$|^\d+px |^\w+\/\S+, |^(input|textarea|button), /;
/** What takes words that nobody reads. */
const UNREAD = ["closest", "matches", "querySelector", "matchMedia", "split"];

const letters = (text: string) => /\p{L}{2,}/u.test(text) && !NAMES.includes(text.trim());

/** Literal texts of a part, with where they stand. */
function texts(source: string): string[] {
  const found: string[] = [];
  const tree = parse(source, { modern: true });
  const visit = (node: unknown, parents: Node[]) => {
    if (Array.isArray(node)) return node.forEach((one) => visit(one, parents));
    if (!node || typeof node !== "object") return;
    const one = node as Node;
    if (typeof one.type === "string") look(one, parents);
    const inner = typeof one.type === "string" ? [...parents, one] : parents;
    for (const [field, value] of Object.entries(one)) if (field !== "parent") visit(value, inner);
  };
  const unread = (parents: Node[]) => {
    const parent = parents.at(-1);
    const { name, property } = (parent?.callee ?? parent ?? {}) as { name?: string; property?: Node };
    return (
      parents.some(({ type }) => type === "TSLiteralType" || type.startsWith("Import")) ||
      parents.some(({ type, name }) => type === "Attribute" && name === "class") ||
      UNREAD.includes(String(property?.name ?? name))
    );
  };
  const readable = (text: string) => SENTENCE.test(text) && !CODE.test(text) && !NAMES.includes(text);
  const look = (node: Node, parents: Node[]) => {
    if (node.type === "Text") {
      const attribute = parents.findLast(({ type }) => type === "Attribute")?.name as string | undefined;
      const read = !attribute || READ.includes(attribute);
      if (read && letters(node.data as string)) found.push(node.data as string);
    } else if (node.type === "Literal" && typeof node.value === "string") {
      if (readable(node.value) && !unread(parents)) found.push(node.value);
    } else if (node.type === "TemplateElement") {
      const { raw } = node.value as { raw: string };
      if (readable(raw.trim()) && !unread(parents)) found.push(raw);
    }
  };
  visit(tree.fragment, []);
  visit(tree.instance, []);
  visit(tree.module, []);
  return found.map((text) => text.trim());
}

const parts = import.meta.glob<string>(["../*.svelte", "../{pages,parts,panels}/*.svelte"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const code = import.meta.glob<string>(["../lib/*.ts", "!**/*.test.ts", "!**/*.d.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

it("finds texts wherever they stand", () => {
  const part = `<script>toast("It is done.");</script>
    <h1 class="two words" aria-label="Title">Text <b>{busy ? "Sending…" : m.add}</b></h1>
    <p title={\`All \${count} of them\`}>{"one of many"}</p>`;
  expect(texts(part)).toEqual(["Title", "Text", "Sending…", "All", "of them", "one of many", "It is done."]);
});

for (const [file, source] of Object.entries(parts)) {
  it(`${file} has no text of its own`, () => expect(texts(source)).toEqual([]));
}
for (const [file, source] of Object.entries(code)) {
  it(`${file} has no text of its own`, () =>
    expect(texts(`<script lang="ts">${source}</script>`)).toEqual([]));
}
