// The client against fake responses.
import assert from "node:assert/strict";
import { File as NodeFile } from "node:buffer";
import { test } from "node:test";

import { apiError } from "../src/errors.js";
import {
  JobFailed,
  pictureUrl,
  ServerError,
  Shotlog,
  type ShotlogOptions,
  TooLarge,
  Unavailable,
  Unreachable,
} from "../src/index.js";
import { utterances } from "../src/transcript.js";

const job = {
  job_id: "j",
  source: "clip.mp4",
  status: "running",
  stage: "analyzing",
  detail: {},
  result: null,
  error: null,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};
/** Node 18 has no global `File`. */
const File = NodeFile as unknown as typeof globalThis.File;
const refusal = () =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json", ...headers } });
const problem = (status: number, headers = {}) => json({ detail: "why" }, status, headers);

/** A client that receives the given responses in order, and the requests it sent. */
function clientWith(responses: (Response | Error)[], options: ShotlogOptions = {}) {
  const requests: Request[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    requests.push(request.clone());
    await request.arrayBuffer();
    const response = responses.shift();
    if (response instanceof Response) return response;
    throw response;
  };
  return { client: new Shotlog({ url: "http://shotlog/", token: "secret", fetch, ...options }), requests };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test("reads are retried", async () => {
  for (const first of [problem(503), refusal()]) {
    const { client, requests } = clientWith([first, json(job)]);
    assert.equal((await client.job("a/b")).stage, "analyzing");
    assert.deepEqual(
      requests.map(({ url, headers }) => [url, headers.get("X-Core-Token")]),
      Array(2).fill(["http://shotlog/jobs/a%2Fb", "secret"]),
    );
  }
});

test("searches are retried with their body", async () => {
  const { client, requests } = clientWith([problem(503), json({ results: [] })]);
  await client.search("harbour", { filters: { new_filter: [1] } });
  const body = { text: "harbour", filters: { new_filter: [1] } };
  assert.deepEqual(await Promise.all(requests.map((request) => request.json())), [body, body]);
});

test("searches take a picture", async () => {
  const { client, requests } = clientWith([json({ results: [] })]);
  const image = await pictureUrl(new Blob(["RIFF\0\0\0\0WEBPVP8 "]));
  await client.search(null, { image, region: [0, 0, 0.5, 1] });
  assert.deepEqual(await requests[0]!.json(), {
    text: null,
    image: "data:image/webp;base64,UklGRgAAAABXRUJQVlA4IA==",
    region: [0, 0, 0.5, 1],
  });
});

test("pictures have a known format and any size", async () => {
  const png = new Uint8Array(100_000);
  png.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  assert.equal(await pictureUrl(png), `data:image/png;base64,${Buffer.from(png).toString("base64")}`);
  for (const other of ["", "GIF89a"]) {
    await assert.rejects(pictureUrl(new Blob([other])), /JPEG, PNG or WebP/);
  }
});

test("other requests are not retried", async () => {
  for (const [answer, call, error] of [
    [problem(503), (client: Shotlog) => client.ingestUrl("http://a/b"), Unavailable],
    [refusal(), (client: Shotlog) => client.deleteVideo("v"), Unreachable],
    [problem(500), (client: Shotlog) => client.job("j"), ServerError],
    [new TypeError("fetch failed"), (client: Shotlog) => client.job("j"), Unreachable],
    [problem(503, { "Retry-After": "60" }), (client: Shotlog) => client.job("j"), Unavailable],
  ] as const) {
    const { client, requests } = clientWith([answer]);
    await assert.rejects(call(client), error);
    assert.equal(requests.length, 1);
  }
});

test("retries are limited", async () => {
  const { client, requests } = clientWith([refusal(), refusal(), refusal()], { retries: 1 });
  await assert.rejects(client.job("j"), Unreachable);
  assert.equal(requests.length, 2);
});

test("errors have the status and the message", async () => {
  for (const [response, kind, message] of [
    [problem(404), "not_found", "why"],
    [new Response("<html>", { status: 502, statusText: "Bad Gateway" }), "unavailable", "Bad Gateway"],
    [json(["odd"], 413), "too_large", "the service responded with 413"],
    [new Response(null, { status: 418 }), "unexpected", "the service responded with 418"],
  ] as const) {
    const { status } = response;
    const error = await apiError(response);
    assert.deepEqual([error.status, error.kind, error.message], [status, kind, message]);
  }
});

test("videos follow the cursor", async () => {
  const pages = [json({ videos: [{ video_id: "a" }], next: "here" }), json({ videos: [{ video_id: "b" }] })];
  const { client, requests } = clientWith(pages);
  const found = await all(client.videos({ pageSize: 1, filename: "a" }));
  assert.deepEqual(
    found.map((video) => video.video_id),
    ["a", "b"],
  );
  assert.equal(requests[1]?.url, "http://shotlog/videos?filename=a&limit=1&cursor=here");
});

test("an upload sends its fields and reports progress", async () => {
  const { client, requests } = clientWith([json({ jobs: [] }), json({ job_id: "j" }, 202)]);
  const file = new File([new Uint8Array(100_000)], 'a "clip".mp4');
  const progress: number[][] = [];
  await client.ingestFile(file, {
    mode: "interval",
    interval: 2.5,
    progress: (...now) => progress.push(now),
  });
  assert.deepEqual(progress.at(-1), [100_000, 100_000]);
  const form = await requests[1]!.formData();
  assert.equal(form.get("interval"), "2.5");
  assert.equal((form.get("file") as File).size, 100_000);
});

test("a browser uploads with XMLHttpRequest", async () => {
  class FakeRequest extends EventTarget {
    static sent: { url: string; headers: Record<string, string>; form: FormData }[] = [];
    readonly upload = new EventTarget();
    status = 413;
    statusText = "";
    responseText = '{"detail": "why"}';
    url = "";
    headers: Record<string, string> = {};
    open(_: string, url: string) {
      this.url = url;
    }
    setRequestHeader(name: string, value: string) {
      this.headers[name] = value;
    }
    getResponseHeader = () => null;
    send(form: FormData) {
      FakeRequest.sent.push({ url: this.url, headers: this.headers, form });
      this.upload.dispatchEvent(Object.assign(new Event("progress"), { loaded: 150 }));
      this.dispatchEvent(new Event("load"));
    }
  }
  Object.assign(globalThis, { XMLHttpRequest: FakeRequest });
  try {
    const progress: number[][] = [];
    const upload = clientWith([json({ jobs: [] })]).client.ingestFile(new File(["abc"], "clip.mp4"), {
      analyzers: "ocr",
      progress: (...now) => progress.push(now),
    });
    await assert.rejects(upload, TooLarge);
    const [sent] = FakeRequest.sent;
    assert.deepEqual([sent?.url, sent?.headers], ["http://shotlog/videos", { "X-Core-Token": "secret" }]);
    assert.equal(sent?.form.get("analyzers"), "ocr");
    assert.deepEqual(progress, [[3, 3]]);
  } finally {
    Reflect.deleteProperty(globalThis, "XMLHttpRequest");
  }
});

test("waiting reports changes", async () => {
  const last = { ...job, status: "failed", error: "Odd: it" };
  const { client } = clientWith([job, job, { ...job, stage: "added_later" }, last].map((each) => json(each)));
  const stages: string[] = [];
  const waiting = client.wait("j", { interval: 0, progress: ({ stage }) => stages.push(stage) });
  await assert.rejects(waiting, (error) => error instanceof JobFailed && error.message === "Odd: it");
  assert.deepEqual(stages, ["analyzing", "added_later", "analyzing"]);
});

test("utterances are speaker turns after diarization", () => {
  const turn = { speaker: "S1", start: 1, end: 2, text: "hello" };
  const chunk = {
    chunk_id: 0,
    start: 0,
    end: 3,
    timecode: "",
    diarization: { turns: [turn], speakers: ["S1"] },
  };
  assert.deepEqual(utterances(chunk), [turn]);
});
