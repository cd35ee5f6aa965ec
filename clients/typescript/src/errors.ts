// Errors of this package. Each error status has its subclass of `ApiError`.
import type { Job } from "./generated/schema.js";

/** Base class of all errors of this package. */
export class ShotlogError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** There was no complete response: the service is down, or the connection broke or timed out. */
export class Unreachable extends ShotlogError {}

/** The job failed or was cancelled; `job.error` has the reason. */
export class JobFailed extends ShotlogError {
  constructor(readonly job: Job) {
    super(job.error ?? "the job failed");
  }
}

/** The job did not end in time and continues; `job` is its last known state. */
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

/** The service responded with an error. */
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
 */
export class InvalidRequest extends ApiError {}

/** 401: the token is missing or wrong. */
export class Unauthorized extends ApiError {}

/** 403: the token lacks the permission, the page is of another site, or the host name is not configured. */
export class Forbidden extends ApiError {}

/** 404: the resource does not exist. */
export class NotFound extends ApiError {}

/** 408: the request body did not arrive in time. */
export class RequestTimeout extends ApiError {}

/** 409: the request conflicts with the stored state. */
export class Conflict extends ApiError {}

/** 413: the request body is too large. */
export class TooLarge extends ApiError {}

/** 429 of a proxy: too many requests. */
export class RateLimited extends ApiError {}

/** 500: internal error; the service's log has the details under `requestId`. */
export class ServerError extends ApiError {}

/** 503: overloaded, stopping or not ready; also 502 and 504 of a proxy. */
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
