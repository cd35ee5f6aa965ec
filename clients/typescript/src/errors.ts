// Errors of this package. Each error status has its subclass of `ApiError`.
import type { Job } from "./generated/schema.js";

/**
 * Base class of all errors of this package.
 *
 * @example
 * ```ts
 * import { ShotlogError, Shotlog } from "shotlog";
 *
 * const client = new Shotlog();
 * try {
 *   await client.ask("When does the ferry leave?");
 * } catch (error) {
 *   if (!(error instanceof ShotlogError)) throw error;
 *   console.error("no answer:", error.message);
 * }
 * ```
 */
export class ShotlogError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * There was no complete response: the service is down, or the connection broke or timed out.
 *
 * @example
 * ```ts
 * import { Shotlog, Unreachable } from "shotlog";
 *
 * const client = new Shotlog({ url: "http://127.0.0.1:9", retries: 0 });
 * try {
 *   await client.health();
 * } catch (error) {
 *   if (!(error instanceof Unreachable)) throw error;
 *   console.log("is the service running?"); // is the service running?
 * }
 * ```
 */
export class Unreachable extends ShotlogError {}

/**
 * The job failed or was cancelled; `job.error` has the reason.
 *
 * @example
 * ```ts
 * import { JobFailed, Shotlog } from "shotlog";
 *
 * const client = new Shotlog();
 * const job = await client.ingestUrl("http://127.0.0.1:9/talk.mp4");
 * try {
 *   await client.wait(job.job_id);
 * } catch (error) {
 *   if (!(error instanceof JobFailed)) throw error;
 *   console.log(error.job.stage, error.job.status); // fetching failed
 * }
 * ```
 */
export class JobFailed extends ShotlogError {
  constructor(readonly job: Job) {
    super(job.error ?? "the job failed");
  }
}

/**
 * The job did not end in time and continues; `job` is its last known state.
 *
 * @example
 * ```ts
 * import { WaitTimeout, Shotlog } from "shotlog";
 * import { openFile } from "shotlog/node";
 *
 * const client = new Shotlog();
 * const job = await client.ingestFile(await openFile("harbour.mp4"));
 * try {
 *   await client.wait(job.job_id, { timeout: 60 });
 * } catch (error) {
 *   if (!(error instanceof WaitTimeout)) throw error;
 *   await client.cancelJob(error.job.job_id);
 * }
 * ```
 */
export class WaitTimeout extends ShotlogError {
  constructor(readonly job: Job) {
    super(`job ${job.job_id} has not ended: it is ${job.status}, ${job.stage}`);
  }
}

/** The content of an error response. */
export interface Problem {
  /** HTTP status. */
  status: number;
  /** The name of the status. */
  kind: string;
  /** What is wrong and what would be valid. */
  message: string;
  /** Identifies the request in the service's log. */
  requestId: string | undefined;
  /** Recommended delay before a retry in seconds, if the response has one. */
  retryAfter: number | undefined;
}

/**
 * The service responded with an error.
 *
 * @example
 * ```ts
 * import { ApiError, Shotlog } from "shotlog";
 *
 * const client = new Shotlog();
 * try {
 *   await client.video("0123456789abcdef");
 * } catch (error) {
 *   if (!(error instanceof ApiError)) throw error;
 *   console.log(error.status, error.kind); // 404 not_found
 * }
 * ```
 */
export class ApiError extends ShotlogError implements Problem {
  readonly status: number;
  readonly kind: string;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(problem: Problem) {
    super(problem.message);
    this.status = problem.status;
    this.kind = problem.kind;
    this.requestId = problem.requestId;
    this.retryAfter = problem.retryAfter;
  }
}

/**
 * 400 `bad_request`: the request is incomplete or names something that does not exist; 422 `unprocessable`: a
 * value has the wrong type or is out of range.
 *
 * @example
 * ```ts
 * import { InvalidRequest, Shotlog } from "shotlog";
 *
 * const client = new Shotlog();
 * try {
 *   await client.search("ferry", { limit: 51 });
 * } catch (error) {
 *   if (!(error instanceof InvalidRequest)) throw error;
 *   console.log(error.kind); // unprocessable
 * }
 * ```
 */
export class InvalidRequest extends ApiError {}

/**
 * 401: the token is missing or wrong.
 *
 * @example
 * ```ts
 * import { Unauthorized, Shotlog } from "shotlog";
 *
 * const client = new Shotlog({ token: "wrong" });
 * try {
 *   await client.schema();
 * } catch (error) {
 *   if (!(error instanceof Unauthorized)) throw error;
 *   console.log(error.status); // 401
 * }
 * ```
 */
export class Unauthorized extends ApiError {}

/**
 * 403: the token lacks the permission, the page is of another site, or the host name is not configured.
 *
 * @example
 * ```ts
 * import { Forbidden, Shotlog } from "shotlog";
 *
 * const client = new Shotlog();
 * for await (const { video_id } of client.videos()) {
 *   try {
 *     await client.annotateVideo(video_id, { collection: "harbour" });
 *   } catch (error) {
 *     if (!(error instanceof Forbidden)) throw error;
 *     console.error("this token cannot write");
 *   }
 * }
 * ```
 */
export class Forbidden extends ApiError {}

/**
 * 404: the resource does not exist.
 *
 * @example
 * ```ts
 * import { NotFound, Shotlog } from "shotlog";
 *
 * const client = new Shotlog();
 * try {
 *   await client.deleteVideo("0123456789abcdef");
 * } catch (error) {
 *   if (!(error instanceof NotFound)) throw error;
 *   console.log("nothing to delete"); // nothing to delete
 * }
 * ```
 */
export class NotFound extends ApiError {}

/**
 * 408: the request body did not arrive in time.
 *
 * @example
 * ```ts
 * import { RequestTimeout, Shotlog } from "shotlog";
 * import { openFile } from "shotlog/node";
 *
 * const client = new Shotlog();
 * try {
 *   await client.ingestFile(await openFile("harbour.mp4"));
 * } catch (error) {
 *   if (!(error instanceof RequestTimeout)) throw error;
 *   console.error("the upload stalled");
 * }
 * ```
 */
export class RequestTimeout extends ApiError {}

/**
 * 409: the request conflicts with the stored state.
 *
 * @example
 * ```ts
 * import { Conflict, Shotlog } from "shotlog";
 *
 * const client = new Shotlog();
 * for await (const { video_id } of client.videos()) {
 *   try {
 *     await client.rerunAggregates(video_id);
 *   } catch (error) {
 *     if (!(error instanceof Conflict)) throw error;
 *     console.error(error.message);
 *   }
 * }
 * ```
 */
export class Conflict extends ApiError {}

/**
 * 413: the request body is too large.
 *
 * @example
 * ```ts
 * import { TooLarge, Shotlog } from "shotlog";
 * import { openFile } from "shotlog/node";
 *
 * const client = new Shotlog();
 * try {
 *   await client.ingestFile(await openFile("harbour.mp4"));
 * } catch (error) {
 *   if (!(error instanceof TooLarge)) throw error;
 *   console.error(error.message);
 * }
 * ```
 */
export class TooLarge extends ApiError {}

/**
 * 429 of a proxy: too many requests.
 *
 * @example
 * ```ts
 * import { RateLimited, Shotlog } from "shotlog";
 *
 * const client = new Shotlog();
 * try {
 *   await client.ask("When does the ferry leave?");
 * } catch (error) {
 *   if (!(error instanceof RateLimited)) throw error;
 *   await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter ?? 60)));
 * }
 * ```
 */
export class RateLimited extends ApiError {}

/**
 * 500: internal error; the service's log has the details under `requestId`.
 *
 * @example
 * ```ts
 * import { ServerError, Shotlog } from "shotlog";
 *
 * const client = new Shotlog();
 * try {
 *   await client.ask("When does the ferry leave?");
 * } catch (error) {
 *   if (!(error instanceof ServerError)) throw error;
 *   console.error("see the log of the service for", error.requestId);
 * }
 * ```
 */
export class ServerError extends ApiError {}

/**
 * 503: overloaded, stopping or not ready; also 502 and 504 of a proxy.
 *
 * @example
 * ```ts
 * import { Unavailable, Shotlog } from "shotlog";
 * import { openFile } from "shotlog/node";
 *
 * const client = new Shotlog();
 * try {
 *   await client.ingestFile(await openFile("harbour.mp4"));
 * } catch (error) {
 *   if (!(error instanceof Unavailable)) throw error;
 *   await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter ?? 1)));
 * }
 * ```
 */
export class Unavailable extends ApiError {}

const byStatus: Record<number, [new (problem: Problem) => ApiError, string]> = {
  400: [InvalidRequest, "bad_request"],
  401: [Unauthorized, "unauthorised"],
  403: [Forbidden, "forbidden"],
  404: [NotFound, "not_found"],
  408: [RequestTimeout, "timeout"],
  409: [Conflict, "conflict"],
  413: [TooLarge, "too_large"],
  422: [InvalidRequest, "unprocessable"],
  429: [RateLimited, "rate_limited"],
  500: [ServerError, "server_error"],
  502: [Unavailable, "unavailable"],
  503: [Unavailable, "unavailable"],
  504: [Unavailable, "unavailable"],
};

/** The error of an error response. */
export async function apiError(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const [Kind, kind] = byStatus[status] ?? [ApiError, "unexpected"];
  const body: unknown = await response.json().catch(() => null);
  const detail = body !== null && typeof body === "object" && "detail" in body ? String(body.detail) : "";
  const seconds = Number.parseFloat(headers.get("Retry-After") ?? "");
  return new Kind({
    status,
    kind,
    message: detail || response.statusText || `the service responded with ${status}`,
    requestId: headers.get("X-Request-Id") ?? undefined,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  });
}
