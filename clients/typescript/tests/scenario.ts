// Takes the steps of clients/scenario.json against a running service.
//
//   node dist/tests/scenario.js SCENARIO NAME=VALUE...
//
// The service is that of SHOTLOG_URL and SHOTLOG_TOKEN; NAME=VALUE are what steps refer to as ${NAME}. Ends
// with 1 at the first step that does not go as it is written.
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

/** The name in TypeScript of what Python writes with underscores; fields of the API keep theirs. */
const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const ownOptions = ["page_size", "idempotency_key"];

async function take(step: Step, values: Values): Promise<void> {
  const options: Values = {};
  for (const [name, value] of Object.entries(step.options ?? {})) {
    options[ownOptions.includes(name) ? camel(name) : name] = value;
  }
  const reported: unknown[] = [];
  if (step.progress)
    options.progress = (...told: unknown[]) => reported.push(told.length > 1 ? told : told[0]);
  let args = step.args ?? [];
  if (step.call === "ingest_file") args = [await openFile(args[0] as string)];
  if (Object.keys(options).length > 0) args = [...args, options];

  const client = new Shotlog(step.client) as unknown as Record<string, (...args: unknown[]) => unknown>;
  let came: unknown;
  let failed = false;
  try {
    came = plain(await finished(client[camel(step.call)]!(...args)));
  } catch (error) {
    if (!(error instanceof ShotlogError) || !step.error) throw error;
    came = problem(error);
    failed = true;
  }
  if (step.error && !failed) throw new Error(`no error, but ${JSON.stringify(came)}`);
  compare(came, step.error ?? step.expect ?? {});
  compare(plain(reported), step.progress ?? {});
  for (const [name, path] of Object.entries(step.save ?? {})) values[name] = at(came, path);
}

function problem(error: ShotlogError): Values {
  const told: Values = { class: error.constructor.name, message: error.message };
  if (error instanceof JobFailed || error instanceof WaitTimeout) told.job = plain(error.job);
  if (error instanceof ApiError) {
    const { status, kind, requestId, retryAfter } = error;
    Object.assign(told, { status, kind, request_id: requestId, retry_after: retryAfter });
  }
  return told;
}

/** What a call gives in the end. */
async function finished(result: unknown): Promise<unknown> {
  if (result === null || typeof result !== "object" || !(Symbol.asyncIterator in result)) return result;
  const all: unknown[] = [];
  for await (const each of result as AsyncIterable<unknown>) all.push(each);
  return all;
}

/** What came, as JSON has it. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return { bytes: value.length, begins: Buffer.from(value.subarray(0, 3)).toString("hex") };
  }
  return JSON.parse(JSON.stringify(value)) as unknown;
}

/** A part of the scenario with the values it refers to. */
function filled(part: unknown, values: Values): unknown {
  if (Array.isArray(part)) return part.map((each) => filled(each, values));
  if (part !== null && typeof part === "object") {
    const entries = Object.entries(part).map(([key, value]) => [filled(key, values), filled(value, values)]);
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

function compare(came: unknown, wanted: Values): void {
  for (const [path, want] of Object.entries(wanted)) {
    const have = at(came, path);
    if (holds(have, want)) continue;
    const [is, not, all] = [have, want, came].map((each) => JSON.stringify(each));
    throw new Error(`${path || "it"} is ${is}, not ${not}; all of it: ${all}`);
  }
}

function holds(have: unknown, want: unknown): boolean {
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

const [path, ...given] = process.argv.slice(2);
const { steps } = JSON.parse(readFileSync(path!, "utf8")) as { steps: Step[] };
const values: Values = Object.fromEntries(given.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
values.clip_size = Number(values.clip_size);
values.run = "typescript";
const start = performance.now();
for (const step of steps) {
  try {
    await take(filled(step, values) as Step, values);
  } catch (error) {
    console.error(`typescript: '${step.name}':`, error);
    process.exit(1);
  }
}
const seconds = ((performance.now() - start) / 1000).toFixed(1);
console.log(`typescript Shotlog: ${steps.length} steps in ${seconds} s`);
