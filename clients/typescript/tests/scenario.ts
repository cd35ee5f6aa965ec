// Runs the steps of clients/scenario.json against a running service.
//
//   node dist/tests/scenario.js SCENARIO NAME=VALUE...
//
// SHOTLOG_URL and SHOTLOG_TOKEN select the service; steps refer to NAME=VALUE as ${NAME}. Exits with 1 at the
// first step whose result differs.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

import {
  ApiError,
  JobFailed,
  Shotlog,
  ShotlogError,
  type ShotlogOptions,
  WaitTimeout,
} from "../src/index.js";
import { openFile } from "../src/node.js";

type Values = Record<string, unknown>;

interface Step {
  name: string;
  call: string;
  args?: unknown[];
  options?: Values;
  client?: ShotlogOptions;
  expect?: Values;
  progress?: Values;
  error?: Values;
  save?: Record<string, string>;
}

/** The TypeScript name of a Python method or option; fields of the API keep their names. */
const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const ownOptions = ["page_size", "idempotency_key"];

async function runStep(step: Step, values: Values): Promise<void> {
  const options: Values = {};
  for (const [name, value] of Object.entries(step.options ?? {})) {
    options[ownOptions.includes(name) ? camel(name) : name] = value;
  }
  const reported: unknown[] = [];
  if (step.progress)
    options.progress = (...args: unknown[]) => reported.push(args.length > 1 ? args : args[0]);
  let args = step.args ?? [];
  if (step.call === "ingest_file") args = [await openFile(args[0] as string)];
  if (Object.keys(options).length > 0) args = [...args, options];

  const client = new Shotlog(step.client) as unknown as Record<string, (...args: unknown[]) => unknown>;
  let actual: unknown;
  let failed = false;
  try {
    actual = plain(await collect(client[camel(step.call)]!(...args)));
  } catch (error) {
    if (!(error instanceof ShotlogError) || !step.error) throw error;
    actual = problem(error);
    failed = true;
  }
  if (step.error && !failed) throw new Error(`no error, but ${JSON.stringify(actual)}`);
  compare(actual, step.error ?? step.expect ?? {});
  compare(plain(reported), step.progress ?? {});
  for (const [name, path] of Object.entries(step.save ?? {})) values[name] = at(actual, path);
}

function problem(error: ShotlogError): Values {
  const fields: Values = { class: error.constructor.name, message: error.message };
  if (error instanceof JobFailed || error instanceof WaitTimeout) fields.job = plain(error.job);
  if (error instanceof ApiError) {
    const { status, kind, requestId, retryAfter } = error;
    Object.assign(fields, { status, kind, request_id: requestId, retry_after: retryAfter });
  }
  return fields;
}

/** The final result of a call. */
async function collect(result: unknown): Promise<unknown> {
  if (result === null || typeof result !== "object" || !(Symbol.asyncIterator in result)) return result;
  const all: unknown[] = [];
  for await (const each of result as AsyncIterable<unknown>) all.push(each);
  return all;
}

/** A result as JSON values. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return { bytes: value.length, begins: Buffer.from(value.subarray(0, 3)).toString("hex") };
  }
  return JSON.parse(JSON.stringify(value)) as unknown;
}

/** A part of the scenario with its variables replaced. */
function substitute(part: unknown, values: Values): unknown {
  if (Array.isArray(part)) return part.map((each) => substitute(each, values));
  if (part !== null && typeof part === "object") {
    const entries = Object.entries(part).map(([key, value]) => [
      substitute(key, values),
      substitute(value, values),
    ]);
    return Object.fromEntries(entries) as unknown;
  }
  if (typeof part !== "string") return part;
  const whole = /^\$\{(\w+)\}$/.exec(part)?.[1];
  return whole ? values[whole] : part.replace(/\$\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

function at(value: unknown, path: string): unknown {
  for (const key of path ? path.split(".") : []) {
    if (value === null || typeof value !== "object") return undefined;
    value = Array.isArray(value) ? value.at(Number(key)) : (value as Values)[key];
  }
  return value;
}

function compare(actual: unknown, expected: Values): void {
  for (const [path, want] of Object.entries(expected)) {
    const have = at(actual, path);
    if (matches(have, want)) continue;
    const [is, not, all] = [have, want, actual].map((each) => JSON.stringify(each));
    throw new Error(`${path || "it"} is ${is}, not ${not}; result: ${all}`);
  }
}

function matches(have: unknown, want: unknown): boolean {
  if (want === null || typeof want !== "object" || Array.isArray(want)) return isDeepStrictEqual(have, want);
  const matcher = want as Values;
  if ("absent" in matcher) return (have === undefined) === matcher.absent;
  if ("at_least" in matcher)
    return Number(Array.isArray(have) ? have.length : have) >= Number(matcher.at_least);
  if ("length" in matcher) return Array.isArray(have) && have.length === matcher.length;
  if ("matches" in matcher) return typeof have === "string" && new RegExp(String(matcher.matches)).test(have);
  if ("contains" in matcher) return Array.isArray(have) && have.includes(matcher.contains);
  return isDeepStrictEqual(have, want);
}

const [path, ...variables] = process.argv.slice(2);
const { steps } = JSON.parse(readFileSync(path!, "utf8")) as { steps: Step[] };
const values: Values = Object.fromEntries(variables.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
values.clip_size = Number(values.clip_size);
values.run = "typescript";
const start = performance.now();
for (const step of steps) {
  try {
    await runStep(substitute(step, values) as Step, values);
  } catch (error) {
    console.error(`typescript: '${step.name}':`, error);
    process.exit(1);
  }
}
const seconds = ((performance.now() - start) / 1000).toFixed(1);
console.log(`typescript Shotlog: ${steps.length} steps in ${seconds} s`);
