import createClient, { type Client } from "openapi-fetch";

import { JobFailed, WaitTimeout } from "./errors.js";
import type {
  AllAggregates,
  AnnotateRequest,
  AskRequest,
  AskResponse,
  Bin,
  BinChanged,
  BinDeleted,
  BinRequest,
  ChangeAccepted,
  Chunk,
  Collection,
  CollectionVideos,
  Deleted,
  DeletedEvaluation,
  Entity,
  Evaluation,
  EvaluationRun,
  EvaluationRunAccepted,
  EvaluationRunRequest,
  EvaluationRunSummary,
  EvaluationSummary,
  EvidenceRequest,
  EvidenceResponse,
  Health,
  IngestAccepted,
  IntervalRequest,
  Job,
  JudgedQuestion,
  Moment,
  OneAggregate,
  operations,
  paths,
  QueryRequest,
  QueryResponse,
  ReadMoments,
  ReadRequest,
  RerunAccepted,
  RerunForm,
  Schema,
  Select,
  SelectRequest,
  Storyboard,
  UrlIngestRequest,
  Video,
  VideoDetail,
  VideoIntervals,
} from "./generated/schema.js";
import { type Utterance, utterances } from "./transcript.js";
import { send, sleep, type TransportOptions } from "./transport.js";
import { type Source, upload, type UploadProgress } from "./upload.js";

export interface ShotlogOptions {
  /** URL of the service. Default: `SHOTLOG_URL`, or http://127.0.0.1:8080. */
  url?: string;
  /** Token for the service. Default: `SHOTLOG_TOKEN`. */
  token?: string;
  /** Maximum time for a response in seconds, except for uploads. Default: 120. */
  timeout?: number;
  /**
   * Maximum retries of reads, searches and questions if the connection is refused or the status is 503.
   * Other requests are never retried. Default: 3.
   */
  retries?: number;
  /** Sends the requests, for example through a proxy. Default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

type Query<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;

/** Chunking and analysis of a video. Durations are in seconds, weights are at least 0. */
export type IngestOptions = Omit<UrlIngestRequest, "url"> & {
  /** A repeated request with the same key returns the job of the first one. */
  idempotencyKey?: string;
};
export type VideoFilters = Omit<Query<"videos">, "limit" | "offset" | "cursor">;
export type ChunkFilters = Omit<Query<"chunks">, "limit" | "offset">;
export type SearchOptions = Omit<QueryRequest, "text">;
export type AskOptions = Omit<AskRequest, "question">;
export type EvidenceOptions = Omit<EvidenceRequest, "question">;
export type ReadOptions = Omit<ReadRequest, "moment_ids">;
/** Items per page of a listing. */
export type PageSize = { pageSize?: number };
export type BinExportOptions = Omit<Query<"export_bin">, "format" | "select_ids"> & { select_ids?: string[] };
export type WaitOptions = {
  /** Called with the job after each change. */
  progress?: (job: Job) => void;
  /** Maximum time to wait in seconds. Default: no limit. */
  timeout?: number;
  /** Polling interval in seconds. Default: 1. */
  interval?: number;
};

const environment = (name: string): string | undefined =>
  "process" in globalThis ? globalThis.process.env?.[name] : undefined;

/**
 * A client for a Shotlog service. Its methods throw the errors of this package.
 *
 * @example
 * ```ts
 * import { type IngestResult, Shotlog } from "shotlog";
 * import { openFile } from "shotlog/node";
 *
 * const client = new Shotlog();
 * const file = await openFile("talk.mp4");
 * const job = await client.ingestFile(file, { analyzers: "default_video,transcript" });
 * const { video_id } = (await client.wait(job.job_id)).result as IngestResult;
 * const found = await client.search("ferry", { video_ids: [video_id] });
 * console.log(found.results[0]?.start); // 0
 * ```
 */
export class Shotlog {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #api: Client<paths>;

  constructor(options: ShotlogOptions = {}) {
    const url = options.url || environment("SHOTLOG_URL") || "http://127.0.0.1:8080";
    const token = options.token ?? environment("SHOTLOG_TOKEN");
    this.#url = url.replace(/\/+$/, "");
    this.#headers = token ? { "X-Core-Token": token } : {};
    this.#fetch = options.fetch ?? ((request) => fetch(request));
    const transport: TransportOptions = {
      fetch: this.#fetch,
      timeout: options.timeout ?? 120,
      retries: options.retries ?? 3,
    };
    this.#api = createClient<paths>({
      baseUrl: this.#url,
      headers: this.#headers,
      fetch: (request) => send(request, transport),
    });
  }

  // The service

  /** Health of the service; needs no token. */
  async health(): Promise<Health> {
    return data(await this.#api.GET("/health"));
  }

  /** Analyzers, vector fields, filters and aggregators of the install. */
  async schema(): Promise<Schema> {
    return data(await this.#api.GET("/schema"));
  }

  // Ingests and jobs

  /**
   * Streams a video file to the service and starts its ingest; returns the accepted job. A service that rejects
   * the upload may close the connection before its response is read, which throws `Unreachable`.
   */
  async ingestFile(
    source: Source,
    options: IngestOptions & { progress?: UploadProgress } = {},
  ): Promise<IngestAccepted> {
    const { progress, idempotencyKey, ...fields } = options;
    // Checks the token before the file is sent.
    await this.#api.GET("/jobs", { params: { query: { limit: 1 } } });
    const headers = { ...this.#headers, ...idempotencyHeader(idempotencyKey) };
    const response = await upload(
      { url: `${this.#url}/videos`, headers, fields, source, progress },
      this.#fetch,
    );
    return (await response.json()) as IngestAccepted;
  }

  /** Starts the ingest of a video from a URL, which the service downloads; returns the accepted job. */
  async ingestUrl(url: string, options: IngestOptions = {}): Promise<IngestAccepted> {
    const { idempotencyKey, ...fields } = options;
    const params = { header: idempotencyHeader(idempotencyKey) };
    return data(await this.#api.POST("/videos/url", { params, body: { url, ...fields } }));
  }

  /** The current state of a job. */
  async job(jobId: string): Promise<Job> {
    return data(await this.#api.GET("/jobs/{job_id}", { params: { path: { job_id: jobId } } }));
  }

  /** All stored jobs, newest first. */
  async *jobs({ pageSize = 100 }: PageSize = {}): AsyncGenerator<Job> {
    for (let offset = 0; ;) {
      const params = { query: { limit: pageSize, offset } };
      const page = data(await this.#api.GET("/jobs", { params }));
      yield* page.jobs;
      offset += page.jobs.length;
      if (page.jobs.length === 0 || offset >= page.total) return;
    }
  }

  /**
   * Waits until a job is done and returns it. Throws `JobFailed`, and `WaitTimeout` if the job does not end in
   * time. Throws `NotFound` after a restart of a service that keeps jobs in memory; the video exists if the
   * ingest had finished.
   */
  async wait(jobId: string, { progress, timeout, interval = 1 }: WaitOptions = {}): Promise<Job> {
    const deadline = timeout === undefined ? Infinity : performance.now() + timeout * 1000;
    for (let last = ""; ;) {
      const job = await this.job(jobId);
      const now = JSON.stringify(job);
      if (now !== last) progress?.(job);
      last = now;
      if (job.status === "done") return job;
      if (job.status === "failed") throw new JobFailed(job);
      const remaining = (deadline - performance.now()) / 1000;
      if (remaining <= 0) throw new WaitTimeout(job);
      await sleep(Math.min(interval, remaining));
    }
  }

  /** Cancels a job unless it has ended; returns its current state. */
  async cancelJob(jobId: string): Promise<Job> {
    return data(await this.#api.DELETE("/jobs/{job_id}", { params: { path: { job_id: jobId } } }));
  }

  // Videos

  /** All videos that match the filters. */
  async *videos({ pageSize = 100, ...filters }: VideoFilters & PageSize = {}): AsyncGenerator<Video> {
    for (let cursor: string | undefined; ;) {
      const query = { ...filters, limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
      const page = data(await this.#api.GET("/videos", { params: { query } }));
      yield* page.videos;
      cursor = page.next;
      if (!cursor) return;
    }
  }

  /** Details of a video. */
  async video(videoId: string): Promise<VideoDetail> {
    return data(await this.#api.GET("/videos/{video_id}", { params: videoParams(videoId) }));
  }

  /** Updates metadata, collection or recording time: null removes a value, absent ones are unchanged. */
  async annotateVideo(videoId: string, changes: AnnotateRequest): Promise<VideoDetail> {
    return data(await this.#api.PATCH("/videos/{video_id}", { params: videoParams(videoId), body: changes }));
  }

  /** Deletes a video and everything stored of it. */
  async deleteVideo(videoId: string): Promise<Deleted> {
    return data(await this.#api.DELETE("/videos/{video_id}", { params: videoParams(videoId) }));
  }

  /** All collections, sorted by name. */
  async *collections({ pageSize = 100 }: PageSize = {}): AsyncGenerator<Collection> {
    for (let cursor: string | undefined; ;) {
      const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
      const page = data(await this.#api.GET("/collections", { params: { query } }));
      yield* page.collections;
      cursor = page.next;
      if (!cursor) return;
    }
  }

  /** Renames a collection in a job; merges it into an existing one of the new name. */
  async renameCollection(collection: string, name: string): Promise<ChangeAccepted> {
    const params = { path: { name: collection } };
    return data(await this.#api.PATCH("/collections/{name}", { params, body: { name } }));
  }

  /** Deletes a collection in a job; `videos` says whether to `delete` or `keep` its videos. */
  async deleteCollection(collection: string, videos: CollectionVideos): Promise<ChangeAccepted> {
    const params = { path: { name: collection }, query: { videos } };
    return data(await this.#api.DELETE("/collections/{name}", { params }));
  }

  /** All chunks of a video that match the filters. The maximum page size is 500. */
  async *chunks(
    videoId: string,
    { pageSize = 100, ...filters }: ChunkFilters & PageSize = {},
  ): AsyncGenerator<Chunk> {
    for (let offset = 0; ;) {
      const params = { ...videoParams(videoId), query: { ...filters, limit: pageSize, offset } };
      const page = data(await this.#api.GET("/videos/{video_id}/chunks", { params }));
      yield* page.chunks;
      offset += page.chunks.length;
      if (page.chunks.length === 0 || offset >= page.total) return;
    }
  }

  /** A chunk with the output of every analyzer. */
  async chunk(videoId: string, chunkId: number, query: Query<"chunk"> = {}): Promise<Chunk> {
    const params = { path: { video_id: videoId, chunk_id: chunkId }, query };
    return data(await this.#api.GET("/videos/{video_id}/chunks/{chunk_id}", { params }));
  }

  /** All video-level results, by aggregator id. */
  async aggregates(videoId: string): Promise<AllAggregates["aggregates"]> {
    const answer = data(
      await this.#api.GET("/videos/{video_id}/aggregates", { params: videoParams(videoId) }),
    );
    return (answer as AllAggregates).aggregates;
  }

  /** The video-level result of one aggregator. */
  async aggregate(videoId: string, aggregator: string): Promise<OneAggregate["result"]> {
    const params = { ...videoParams(videoId), query: { aggregator } };
    const answer = data(await this.#api.GET("/videos/{video_id}/aggregates", { params }));
    return (answer as OneAggregate).result;
  }

  /** Recomputes aggregates in a job: those of the comma-separated ids in `aggregators`, or all. */
  async rerunAggregates(
    videoId: string,
    { force = true, ...body }: RerunForm & { force?: boolean } = {},
  ): Promise<RerunAccepted> {
    const params = { ...videoParams(videoId), query: { force } };
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    return data(await this.#api.POST("/videos/{video_id}/aggregates", { params, headers, body }));
  }

  /** People of a video who were seen in at least `min_appearances` chunks, by default all. */
  async entities(videoId: string, query: Query<"entities"> = {}): Promise<Entity[]> {
    const params = { ...videoParams(videoId), query };
    return data(await this.#api.GET("/videos/{video_id}/entities", { params })).entities;
  }

  /**
   * The utterances of a video in order of time, with speakers after diarization. Throws `InvalidRequest` if no
   * analyzer has recognised its speech.
   */
  async transcript(videoId: string): Promise<Utterance[]> {
    const { analyzers } = await this.video(videoId);
    const analyzer = analyzers.includes("diarization") ? "diarization" : "transcript";
    const transcript: Utterance[] = [];
    for await (const chunk of this.chunks(videoId, { analyzer, pageSize: 500 }))
      transcript.push(...utterances(chunk));
    return transcript;
  }

  /** The log of a video in a text format, such as srt, edl, fcpxml, otio, csv or json. */
  async export(videoId: string, format: string): Promise<string> {
    const params = { ...videoParams(videoId), query: { format } };
    return data(await this.#api.GET("/videos/{video_id}/export", { params, parseAs: "text" }));
  }

  /** The bytes of a video's log in any file format, such as transcript.docx. */
  async exportFile(videoId: string, format: string): Promise<Uint8Array> {
    const params = { ...videoParams(videoId), query: { format } };
    const parseAs = "arrayBuffer";
    return new Uint8Array(data(await this.#api.GET("/videos/{video_id}/export", { params, parseAs })));
  }

  /** The frame at `t` seconds as a JPEG, at most `width` pixels wide. Default: 640. */
  async frame(videoId: string, t: number, options: { width?: number } = {}): Promise<Uint8Array> {
    const params = { ...videoParams(videoId), query: { t, ...options } };
    const parseAs = "arrayBuffer";
    return new Uint8Array(data(await this.#api.GET("/videos/{video_id}/frames", { params, parseAs })));
  }

  /** The layout of a video's storyboard sheet. */
  async storyboard(videoId: string): Promise<Storyboard> {
    return data(await this.#api.GET("/videos/{video_id}/storyboard", { params: videoParams(videoId) }));
  }

  /** A video's storyboard sheet as a JPEG. */
  async storyboardSheet(videoId: string): Promise<Uint8Array> {
    const options = { params: videoParams(videoId), parseAs: "arrayBuffer" } as const;
    return new Uint8Array(data(await this.#api.GET("/videos/{video_id}/storyboard.jpg", options)));
  }

  // Search and answers

  /**
   * Searches for moments and, unless `synthesize` is false, answers from them. Without a text, finds moments
   * similar to another one (`like`) or to a picture (`image`), or lists all that match the filters (`order`).
   */
  async search(text: string | null, options: SearchOptions = {}): Promise<QueryResponse> {
    return data(await this.#api.POST("/query", { body: { text, ...options } }));
  }

  /** Evidence for your own model to answer a question: the best moments within `max_tokens`. */
  async evidence(question: string, options: EvidenceOptions = {}): Promise<EvidenceResponse> {
    return data(await this.#api.POST("/evidence", { body: { question, ...options } }));
  }

  /** Everything stored of a moment, by its id from a hit or citation. */
  async moment(momentId: string): Promise<Moment> {
    const params = { path: { moment_id: momentId } };
    return data(await this.#api.GET("/moments/{moment_id}", { params }));
  }

  /** Everything stored of several moments, as many as fit into `max_tokens`. */
  async readMoments(momentIds: string[], options: ReadOptions = {}): Promise<ReadMoments> {
    return data(await this.#api.POST("/moments/read", { body: { moment_ids: momentIds, ...options } }));
  }

  /** Answers a question from the footage; each sentence cites the moments that support it. */
  async ask(question: string, options: AskOptions = {}): Promise<AskResponse> {
    return data(await this.#api.POST("/ask", { body: { question, ...options } }));
  }

  /** The spans of each video in which an expression holds. A video with many spans comes in parts. */
  async *intervals(
    expression: IntervalRequest["expression"],
    { pageSize = 50, ...options }: PageSize & Pick<IntervalRequest, "video_ids" | "filters"> = {},
  ): AsyncGenerator<VideoIntervals> {
    const request = { expression, limit: pageSize, ...options };
    for (let cursor: string | undefined; ;) {
      const body = cursor === undefined ? request : { ...request, cursor };
      const page = data(await this.#api.POST("/intervals", { body }));
      yield* page.videos;
      cursor = page.next;
      if (!cursor) return;
    }
  }

  // Bins

  /** All bins, sorted by name. */
  async *bins({ pageSize = 100 }: PageSize = {}): AsyncGenerator<Bin> {
    for (let cursor: string | undefined; ;) {
      const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
      const page = data(await this.#api.GET("/bins", { params: { query } }));
      yield* page.bins;
      cursor = page.next;
      if (!cursor) return;
    }
  }

  /** Creates an empty bin, a named, ordered list of selects. */
  async createBin(name: string, options: Omit<BinRequest, "name"> = {}): Promise<Bin> {
    return data(await this.#api.POST("/bins", { body: { name, ...options } }));
  }

  /** Deletes a bin. Its videos are not changed. */
  async deleteBin(binId: string): Promise<BinDeleted> {
    return data(await this.#api.DELETE("/bins/{bin_id}", { params: binParams(binId) }));
  }

  /** Adds selects at a position, counted from 0, by default at the end. */
  async addSelects(
    binId: string,
    selects: SelectRequest[],
    options: { position?: number } = {},
  ): Promise<BinChanged> {
    const body = { selects, ...options };
    return data(await this.#api.POST("/bins/{bin_id}/selects", { params: binParams(binId), body }));
  }

  /** The selects of a bin, in order. */
  async *selects(binId: string, { pageSize = 100 }: PageSize = {}): AsyncGenerator<Select> {
    for (let offset = 0; ;) {
      const params = { ...binParams(binId), query: { limit: pageSize, offset } };
      const page = data(await this.#api.GET("/bins/{bin_id}/selects", { params }));
      yield* page.selects;
      offset += page.selects.length;
      if (page.selects.length === 0 || offset >= page.total) return;
    }
  }

  /**
   * The selects of a bin as a file, such as fcpxml, edl or quotes.docx. Only those with these ids, a rating of
   * at least `min_rating` and the tag are exported.
   */
  async exportBin(
    binId: string,
    format: string,
    { select_ids: ids, ...options }: BinExportOptions = {},
  ): Promise<Uint8Array> {
    const query = { format, ...(ids && { select_ids: ids.join(",") }), ...options };
    const params = { ...binParams(binId), query };
    const parseAs = "arrayBuffer";
    return new Uint8Array(data(await this.#api.GET("/bins/{bin_id}/export", { params, parseAs })));
  }

  /** Summaries of all evaluations, sorted by name. */
  async evaluations(): Promise<EvaluationSummary[]> {
    return data(await this.#api.GET("/evaluations")).evaluations;
  }

  /** Creates an evaluation, or replaces its questions. */
  async putEvaluation(name: string, questions: JudgedQuestion[]): Promise<Evaluation> {
    const params = { path: { name } };
    return data(await this.#api.PUT("/evaluations/{name}", { params, body: { questions } }));
  }

  /** An evaluation with its questions. */
  async evaluation(name: string): Promise<Evaluation> {
    return data(await this.#api.GET("/evaluations/{name}", { params: { path: { name } } }));
  }

  /** Removes an evaluation and its runs. */
  async deleteEvaluation(name: string): Promise<DeletedEvaluation> {
    return data(await this.#api.DELETE("/evaluations/{name}", { params: { path: { name } } }));
  }

  /** Runs the questions with each configuration; the run exists once its job is done. */
  async runEvaluation(name: string, request: EvaluationRunRequest = {}): Promise<EvaluationRunAccepted> {
    const params = { path: { name } };
    return data(await this.#api.POST("/evaluations/{name}/runs", { params, body: request }));
  }

  /** The runs of an evaluation, newest first. */
  async evaluationRuns(name: string): Promise<EvaluationRunSummary[]> {
    const params = { path: { name } };
    return data(await this.#api.GET("/evaluations/{name}/runs", { params })).runs;
  }

  /** A run with the results of each question. */
  async evaluationRun(name: string, runId: string): Promise<EvaluationRun> {
    const params = { path: { name, run_id: runId } };
    return data(await this.#api.GET("/evaluations/{name}/runs/{run_id}", { params }));
  }
}

const binParams = (binId: string) => ({ path: { bin_id: binId } });

const videoParams = (videoId: string) => ({ path: { video_id: videoId } });

const idempotencyHeader = (key: string | undefined) => (key === undefined ? {} : { "Idempotency-Key": key });

/** The body of a successful response. */
function data<T>(response: { data?: T }): T {
  return response.data as T;
}
