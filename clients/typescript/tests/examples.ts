// Compiles the examples of the README and of the documentation in the source, and runs them against a running
// service.
//
//   node dist/tests/examples.js FOLDER
//
// SHOTLOG_URL and SHOTLOG_TOKEN select the service; FOLDER contains talk.mp4 and harbour.mp4. An example must
// print what the comments after its calls of console.log say. Exits with 1 if one fails, or if a class has none.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";

const folder = resolve("dist/examples");

/** The examples by the name that they document; an empty one for a class without an example. */
function examples(): Map<string, string> {
  const [, readme = ""] = /```ts\n([^]*?)```/.exec(readFileSync("README.md", "utf8")) ?? [];
  const all = new Map([["README", readme]]);
  for (const file of readdirSync("src").filter((name) => name.endsWith(".ts"))) {
    const source = readFileSync(`src/${file}`, "utf8");
    const exported = /(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\n)?export (class|async function|function) (\w+)/g;
    for (const [, comment = "", kind, name] of source.matchAll(exported)) {
      const code = /@example\n \* ```ts\n([^]*?) \* ```/.exec(comment)?.[1]?.replace(/^ \* ?/gm, "");
      if (code !== undefined || kind === "class") all.set(name!, code ?? "");
    }
  }
  return all;
}

function compile(all: Map<string, string>): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, code] of all) writeFileSync(`${folder}/${name}.ts`, code);
  const compilerOptions = { rootDir: ".", outDir: ".", declaration: false, noUnusedLocals: false };
  const config = { extends: "../../tsconfig.json", compilerOptions, include: ["*.ts"], exclude: [] };
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config));
  execFileSync("node_modules/.bin/tsc", ["-p", folder], { stdio: "inherit" });
}

/** Runs an example and checks what it prints. */
async function run(name: string, code: string): Promise<void> {
  const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, text]) => text);
  const printed: string[] = [];
  const { log } = console;
  console.log = (...values) => printed.push(format(...values));
  try {
    await import(pathToFileURL(`${folder}/${name}.js`).href);
  } finally {
    console.log = log;
  }
  for (const text of expected) assert(printed.includes(text!), `${name} prints ${printed}, not ${text}`);
}

const all = examples();
const missing = [...all.keys()].filter((name) => !all.get(name));
assert.deepEqual(missing, [], "these classes have no example");
compile(all);
process.chdir(process.argv[2]!);
for (const [name, code] of all) await run(name, code);
console.log(`typescript: ${all.size} examples passed`);
