import createClient, { type Client } from "openapi-fetch";

import { JobFailed, WaitTimeout } from "./errors.js";
import type {
  AllAggregates,
  AnnotateRequest,
  AskRequest,
  AskResponse,
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
  Storyboard,
  UrlIngestRequest,
  Video,
  VideoDetail,
} from "./generated/schema.js";
import { type Utterance, utterances } from "./transcript.js";
import { send, sleep, type TransportOptions } from "./transport.js";
import { type Source, upload, type UploadProgress } from "./upload.js";

export interface ShotlogOptions {
  /** Where the service is; `SHOTLOG_URL`, or http://127.0.0.1:8080. */
  url?: string;
  /** What it asks for; `SHOTLOG_TOKEN`. */
  token?: string;
  /** Longest time for an answer, uploads apart, seconds; 120. */
  timeout?: number;
  /**
   * Times that a read, a search or a question is sent again where the connection is refused or the answer is
   * 503; 3. Nothing else is sent again.
   */
  retries?: number;
  /** Sends the requests, as through a proxy. */
  fetch?: (request: Request) => Promise<Response>;
}

type Query<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;

/** How a video is split and analyzed; times are seconds, weights are 0 or more. */
export type IngestOptions = Omit<UrlIngestRequest, "url"> & {
  /** A request that is sent again with its key is answered with the job it started. */
  idempotencyKey?: string;
};
export type VideoFilters = Omit<Query<"videos">, "limit" | "offset" | "cursor">;
export type ChunkFilters = Omit<Query<"chunks">, "limit" | "offset">;
export type SearchOptions = Omit<QueryRequest, "text">;
export type AskOptions = Omit<AskRequest, "question">;
export type EvidenceOptions = Omit<EvidenceRequest, "question">;
export type ReadOptions = Omit<ReadRequest, "moment_ids">;
/** Things per request of a listing. */
export type PageSize = { pageSize?: number };
export type WaitOptions = {
  /** Called with the job whenever it has got on. */
  progress?: (job: Job) => void;
  /** Longest time to wait, seconds; without end where it is left out. */
  timeout?: number;
  /** Seconds between two looks; 1. */
  interval?: number;
};

const environment = (name: string): string | undefined =>
  "process" in globalThis ? globalThis.process.env?.[name] : undefined;

/** A Shotlog service. Its calls throw the errors of this package. */
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

  /** What works and what does not; needs no token. */
  async health(): Promise<Health> {
    return some(await this.#api.GET("/health"));
  }

  /** Analyzers, vector fields, filters and aggregators of the install. */
  async schema(): Promise<Schema> {
    return some(await this.#api.GET("/schema"));
  }

  // Ingests and jobs

  /**
   * Uploads a video, in parts as they are read; the job that is answered goes on with it. A service that refuses
   * while the file is on its way may hang up before that is read: `Unreachable`.
   */
  async ingestFile(
    source: Source,
    options: IngestOptions & { progress?: UploadProgress } = {},
  ): Promise<IngestAccepted> {
    const { progress, idempotencyKey, ...fields } = options;
    // A wrong token is told before anything is sent.
    await this.#api.GET("/jobs", { params: { query: { limit: 1 } } });
    const headers = { ...this.#headers, ...keyed(idempotencyKey) };
    const response = await upload(
      { url: `${this.#url}/videos`, headers, fields, source, progress },
      this.#fetch,
    );
    return (await response.json()) as IngestAccepted;
  }

  /** Lets the service download a video; the job that is answered goes on with it. */
  async ingestUrl(url: string, options: IngestOptions = {}): Promise<IngestAccepted> {
    const { idempotencyKey, ...fields } = options;
    const params = { header: keyed(idempotencyKey) };
    return some(await this.#api.POST("/videos/url", { params, body: { url, ...fields } }));
  }

  /** A job as it is now. */
  async job(jobId: string): Promise<Job> {
    return some(await this.#api.GET("/jobs/{job_id}", { params: { path: { job_id: jobId } } }));
  }

  /** All jobs that are remembered, the newest first. */
  async *jobs({ pageSize = 100 }: PageSize = {}): AsyncGenerator<Job> {
    for (let offset = 0; ;) {
      const params = { query: { limit: pageSize, offset } };
      const page = some(await this.#api.GET("/jobs", { params }));
      yield* page.jobs;
      offset += page.jobs.length;
      if (page.jobs.length === 0 || offset >= page.total) return;
    }
  }

  /**
   * The job when it is done. Throws `JobFailed`, and `WaitTimeout` where it has not ended in time. A restart
   * of a service with jobs in memory makes it throw `NotFound`; the video is there if the ingest had ended.
   */
  async wait(jobId: string, { progress, timeout, interval = 1 }: WaitOptions = {}): Promise<Job> {
    const deadline = timeout === undefined ? Infinity : performance.now() + timeout * 1000;
    for (let seen = ""; ;) {
      const job = await this.job(jobId);
      const now = JSON.stringify(job);
      if (now !== seen) progress?.(job);
      seen = now;
      if (job.status === "done") return job;
      if (job.status === "failed") throw new JobFailed(job);
      const left = (deadline - performance.now()) / 1000;
      if (left <= 0) throw new WaitTimeout(job);
      await sleep(Math.min(interval, left));
    }
  }

  /** Ends a job that has not ended, and answers with it. */
  async cancelJob(jobId: string): Promise<Job> {
    return some(await this.#api.DELETE("/jobs/{job_id}", { params: { path: { job_id: jobId } } }));
  }

  // Videos

  /** All videos that pass the filters, page by page. */
  async *videos({ pageSize = 100, ...filters }: VideoFilters & PageSize = {}): AsyncGenerator<Video> {
    for (let cursor: string | undefined; ;) {
      const query = { ...filters, limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
      const page = some(await this.#api.GET("/videos", { params: { query } }));
      yield* page.videos;
      cursor = page.next;
      if (!cursor) return;
    }
  }

  /** What is known of a video as a whole. */
  async video(videoId: string): Promise<VideoDetail> {
    return some(await this.#api.GET("/videos/{video_id}", { params: of(videoId) }));
  }

  /** Changes what is said of a video: of what is given null removes, and the rest stays. */
  async annotateVideo(videoId: string, said: AnnotateRequest): Promise<VideoDetail> {
    return some(await this.#api.PATCH("/videos/{video_id}", { params: of(videoId), body: said }));
  }

  /** Removes a video and everything that was stored of it. */
  async deleteVideo(videoId: string): Promise<Deleted> {
    return some(await this.#api.DELETE("/videos/{video_id}", { params: of(videoId) }));
  }

  /** The collections that videos are in, by name, page by page. */
  async *collections({ pageSize = 100 }: PageSize = {}): AsyncGenerator<Collection> {
    for (let cursor: string | undefined; ;) {
      const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
      const page = some(await this.#api.GET("/collections", { params: { query } }));
      yield* page.collections;
      cursor = page.next;
      if (!cursor) return;
    }
  }

  /** Renames a collection, as a job; one that has the new name already takes its videos in. */
  async renameCollection(collection: string, name: string): Promise<ChangeAccepted> {
    const params = { path: { name: collection } };
    return some(await this.#api.PATCH("/collections/{name}", { params, body: { name } }));
  }

  /** Removes a collection, as a job: `delete` with its videos, `keep` only from them. */
  async deleteCollection(collection: string, videos: CollectionVideos): Promise<ChangeAccepted> {
    const params = { path: { name: collection }, query: { videos } };
    return some(await this.#api.DELETE("/collections/{name}", { params }));
  }

  /** All chunks of a video that pass the filters, page by page; at most 500 are a page. */
  async *chunks(
    videoId: string,
    { pageSize = 100, ...filters }: ChunkFilters & PageSize = {},
  ): AsyncGenerator<Chunk> {
    for (let offset = 0; ;) {
      const params = { ...of(videoId), query: { ...filters, limit: pageSize, offset } };
      const page = some(await this.#api.GET("/videos/{video_id}/chunks", { params }));
      yield* page.chunks;
      offset += page.chunks.length;
      if (page.chunks.length === 0 || offset >= page.total) return;
    }
  }

  /** One chunk, with what every analyzer found in it. */
  async chunk(videoId: string, chunkId: number, query: Query<"chunk"> = {}): Promise<Chunk> {
    const params = { path: { video_id: videoId, chunk_id: chunkId }, query };
    return some(await this.#api.GET("/videos/{video_id}/chunks/{chunk_id}", { params }));
  }

  /** Everything that was concluded from a video, by aggregator. */
  async aggregates(videoId: string): Promise<AllAggregates["aggregates"]> {
    const answer = some(await this.#api.GET("/videos/{video_id}/aggregates", { params: of(videoId) }));
    return (answer as AllAggregates).aggregates;
  }

  /** What one aggregator concluded from a video. */
  async aggregate(videoId: string, aggregator: string): Promise<OneAggregate["result"]> {
    const params = { ...of(videoId), query: { aggregator } };
    const answer = some(await this.#api.GET("/videos/{video_id}/aggregates", { params }));
    return (answer as OneAggregate).result;
  }

  /** Runs aggregators, given as comma-separated ids, or all of them, over what is stored of a video. */
  async rerunAggregates(
    videoId: string,
    { force = true, ...body }: RerunForm & { force?: boolean } = {},
  ): Promise<RerunAccepted> {
    const params = { ...of(videoId), query: { force } };
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    return some(await this.#api.POST("/videos/{video_id}/aggregates", { params, headers, body }));
  }

  /** People of a video, all or those who were seen in at least `min_appearances` chunks. */
  async entities(videoId: string, query: Query<"entities"> = {}): Promise<Entity[]> {
    const params = { ...of(videoId), query };
    return some(await this.#api.GET("/videos/{video_id}/entities", { params })).entities;
  }

  /**
   * What is said in a video, in order, with speakers where they were told apart. Throws `InvalidRequest` where
   * nothing has recognised its speech.
   */
  async transcript(videoId: string): Promise<Utterance[]> {
    const { analyzers } = await this.video(videoId);
    const analyzer = analyzers.includes("diarization") ? "diarization" : "transcript";
    const said: Utterance[] = [];
    for await (const chunk of this.chunks(videoId, { analyzer, pageSize: 500 }))
      said.push(...utterances(chunk));
    return said;
  }

  /** The log of a video as a file: srt, vtt, chapters.vtt, ffmetadata, edl, otio, csv or json. */
  async export(videoId: string, format: string): Promise<string> {
    const params = { ...of(videoId), query: { format } };
    return some(await this.#api.GET("/videos/{video_id}/export", { params, parseAs: "text" }));
  }

  /** The picture at `t` seconds, as a JPEG at most `width` pixels wide, 640 where it is left out. */
  async frame(videoId: string, t: number, options: { width?: number } = {}): Promise<Uint8Array> {
    const params = { ...of(videoId), query: { t, ...options } };
    const parseAs = "arrayBuffer";
    return new Uint8Array(some(await this.#api.GET("/videos/{video_id}/frames", { params, parseAs })));
  }

  /** How the pictures on the sheet of a video are laid out. */
  async storyboard(videoId: string): Promise<Storyboard> {
    return some(await this.#api.GET("/videos/{video_id}/storyboard", { params: of(videoId) }));
  }

  /** Small pictures from the whole of a video, as one JPEG. */
  async storyboardSheet(videoId: string): Promise<Uint8Array> {
    const options = { params: of(videoId), parseAs: "arrayBuffer" } as const;
    return new Uint8Array(some(await this.#api.GET("/videos/{video_id}/storyboard.jpg", options)));
  }

  // Search and answers

  /**
   * Moments by what is in them; with `synthesize`, as is the default, an answer over them. Without a text
   * those that are like another one (`like`), or all that the filters leave (`order`).
   */
  async search(text: string | null, options: SearchOptions = {}): Promise<QueryResponse> {
    return some(await this.#api.POST("/query", { body: { text, ...options } }));
  }

  /** What a model of your own needs to answer a question: the best moments, within `max_tokens`. */
  async evidence(question: string, options: EvidenceOptions = {}): Promise<EvidenceResponse> {
    return some(await this.#api.POST("/evidence", { body: { question, ...options } }));
  }

  /** What is stored of a moment, by the name that hits and citations give it. */
  async moment(momentId: string): Promise<Moment> {
    const params = { path: { moment_id: momentId } };
    return some(await this.#api.GET("/moments/{moment_id}", { params }));
  }

  /** What is stored of several moments, the first that fit into `max_tokens`. */
  async readMoments(momentIds: string[], options: ReadOptions = {}): Promise<ReadMoments> {
    return some(await this.#api.POST("/moments/read", { body: { moment_ids: momentIds, ...options } }));
  }

  /** An answer out of the footage, each sentence with the moments that support it. */
  async ask(question: string, options: AskOptions = {}): Promise<AskResponse> {
    return some(await this.#api.POST("/ask", { body: { question, ...options } }));
  }

  /** What there is of every evaluation, by name. */
  async evaluations(): Promise<EvaluationSummary[]> {
    return some(await this.#api.GET("/evaluations")).evaluations;
  }

  /** Keeps judged questions under a name, in place of those that it has had. */
  async putEvaluation(name: string, questions: JudgedQuestion[]): Promise<Evaluation> {
    const params = { path: { name } };
    return some(await this.#api.PUT("/evaluations/{name}", { params, body: { questions } }));
  }

  /** An evaluation with its questions. */
  async evaluation(name: string): Promise<Evaluation> {
    return some(await this.#api.GET("/evaluations/{name}", { params: { path: { name } } }));
  }

  /** Removes an evaluation and its runs. */
  async deleteEvaluation(name: string): Promise<DeletedEvaluation> {
    return some(await this.#api.DELETE("/evaluations/{name}", { params: { path: { name } } }));
  }

  /** Asks the questions, as each configuration says; the run is there once its job is done. */
  async runEvaluation(name: string, request: EvaluationRunRequest = {}): Promise<EvaluationRunAccepted> {
    const params = { path: { name } };
    return some(await this.#api.POST("/evaluations/{name}/runs", { params, body: request }));
  }

  /** The runs of an evaluation, the newest first. */
  async evaluationRuns(name: string): Promise<EvaluationRunSummary[]> {
    const params = { path: { name } };
    return some(await this.#api.GET("/evaluations/{name}/runs", { params })).runs;
  }

  /** A run with what each question came to. */
  async evaluationRun(name: string, runId: string): Promise<EvaluationRun> {
    const params = { path: { name, run_id: runId } };
    return some(await this.#api.GET("/evaluations/{name}/runs/{run_id}", { params }));
  }
}

const of = (videoId: string) => ({ path: { video_id: videoId } });

const keyed = (key: string | undefined) => (key === undefined ? {} : { "Idempotency-Key": key });

/** The body of an answer; errors have been thrown before. */
function some<T>(answer: { data?: T }): T {
  return answer.data as T;
}
