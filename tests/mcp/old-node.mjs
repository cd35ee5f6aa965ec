// Lets the conformance package start on Node before version 22, whose `fs` has no `globSync`. The package imports it
// for a command that the check does not run. Used as `node --import ./tests/mcp/old-node.mjs`.
import fs from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

if (isMainThread && !fs.globSync) register(import.meta.url);

export async function load(url, context, next) {
    const loaded = await next(url, context);
    if (!url.includes("/@modelcontextprotocol/conformance/")) return loaded;
    return { ...loaded, source: loaded.source.toString().replace("globSync as ", "existsSync as ") };
}
