// Starts the real binary on a free port with an empty data folder, for all tests and the screenshot. The
// caller stops it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const sample = join(root, "var/sample/shotlog-sample.mp4");

// The headless shell draws no window, which halves the time per page.
const chromium = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

export const browser = {
  executablePath: process.env.SHOTLOG_CHROMIUM ?? chromium.find(existsSync) ?? chromium[1],
  // Chromium's sandbox does not run as root, the usual user in a container.
  args: ["--autoplay-policy=no-user-gesture-required", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
};

export function freePort() {
  return new Promise((done, failed) => {
    const server = createServer();
    server.on("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

const binary = process.env.SHOTLOG_BINARY ?? join(root, "target/debug/shotlog");
/** The service of `examples/own_aggregator` with its own analyzer and aggregator; `cargo build --examples`. */
export const example = join(dirname(binary), "examples/own_aggregator");

// `url` is the address for browsers, if different; `data` is a folder to keep; `clip` starts the example
// with this clip instead.
export async function startService({ environment = {}, flags = [], url: outside, data: kept, port: fixed, clip } = {}) {
  const port = fixed ?? await freePort();
  const data = kept ?? await mkdtemp(join(tmpdir(), "shotlog-browser-"));
  const url = `http://127.0.0.1:${port}`;
  const command = clip ? [example, clip, `127.0.0.1:${port}`] : [binary, "--config", join(root, "config.toml"), "serve", ...flags];
  const child = spawn(command[0], command.slice(1), {
    cwd: root,
    env: {
      ...process.env,
      SERVICE_HTTP__LISTEN: `127.0.0.1:${port}`,
      SERVICE_HTTP__BASE_URL: outside ?? url,
      SERVICE_DATA_DIR: data,
      // OCR takes most of an ingest, and these tests are about the page.
      SERVICE_OCR__KIND: "none",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => { output = (output + text).slice(-20_000); });
  }
  let ended = null;
  const end = new Promise((done) => {
    child.on("error", (error) => { ended = error.message; done(); });
    child.on("exit", (code, signal) => { ended = `exit ${code ?? signal}`; done(); });
  });

  const stop = async () => {
    if (ended === null) {
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await end;
      clearTimeout(killer);
    }
    if (!kept) await rm(data, { recursive: true, force: true });
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await end;
  };

  for (let attempt = 0; ; attempt += 1) {
    if (ended !== null) throw new Error(`the service did not start (${ended}):\n${output}`);
    const healthy = await fetch(`${url}/health`).then((answer) => answer.ok, () => false);
    if (healthy) break;
    if (attempt > 600) {
      await stop();
      throw new Error(`the service does not answer:\n${output}`);
    }
    await new Promise((done) => { setTimeout(done, 100); });
  }
  return { url: outside ?? url, stop, kill, output: () => output };
}

/** Maximum time of an ingest, in milliseconds. */
const INGEST_TIME = 300_000;

/**
 * Ingests a file, by default the sample clip, and returns the id of the video when the job is done. `fields` are those of
 * the form.
 */
export async function addVideo(url, fields, { bytes, name = "shotlog-sample.mp4", headers = {} } = {}) {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append("file", new Blob([bytes ?? await readFile(sample)], { type: "video/mp4" }), name);
  const json = async (path, init) => {
    const response = await fetch(`${url}/${path}`, { headers, ...init });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { job_id: id } = await json("videos", { method: "POST", body: form });
  const end = Date.now() + INGEST_TIME;
  for (;;) {
    const job = await json(`jobs/${id}`);
    if (job.status === "done") return job.result.video_id;
    if (job.status === "failed" || Date.now() > end) throw new Error(`${name} is ${job.status}: ${job.error}`);
    await new Promise((done) => { setTimeout(done, 200); });
  }
}
