// What calls throw. An answer with an error status is an `ApiError` of the class of that status.
import type { Job } from "./generated/schema.js";

/** Anything that this package throws. */
export class ShotlogError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No whole answer came: the service is not there, or the connection broke or took too long. */
export class Unreachable extends ShotlogError {}

/** A job that was waited for failed or was cancelled; `job.error` says why. */
export class JobFailed extends ShotlogError {
  constructor(readonly job: Job) {
    super(job.error ?? "the job failed");
  }
}

/** A job that was waited for goes on; `job` is what was last seen of it. */
export class WaitTimeout extends ShotlogError {
  constructor(readonly job: Job) {
    super(`job ${job.job_id} has not ended: it is ${job.status}, ${job.stage}`);
  }
}

/** What an answer with an error status tells. */
export interface Problem {
  /** That of HTTP. */
  status: number;
  /** The name of the status. */
  kind: string;
  /** What was wrong and what would be right. */
  message: string;
  /** Finds the request in the service's log. */
  requestId: string | undefined;
  /** Seconds until another try may succeed, where the answer tells. */
  retryAfter: number | undefined;
}

/** The service answered with an error. */
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
 * 400 `bad_request`: something the install does not know, or lacks; 422 `unprocessable`: a value of the
 * wrong type or out of its range.
 */
export class InvalidRequest extends ApiError {}

/** 401: the token is missing or wrong. */
export class Unauthorized extends ApiError {}

/** 403: sent from a page of another site, or to a name that is not the service's. */
export class Forbidden extends ApiError {}

/** 404: no such video, chunk or job. */
export class NotFound extends ApiError {}

/** 408: the body stopped arriving. */
export class RequestTimeout extends ApiError {}

/** 409: what is stored is not what the request goes by. */
export class Conflict extends ApiError {}

/** 413: the body is larger than the service takes. */
export class TooLarge extends ApiError {}

/** 429, as a proxy answers: too many requests. */
export class RateLimited extends ApiError {}

/** 500: an unhandled failure, in the service's log under `requestId`. */
export class ServerError extends ApiError {}

/** 503: full, stopping or not ready; and 502 and 504 of a proxy. */
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

/** The error that an answer tells of. */
export async function apiError(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const [Kind, kind] = byStatus[status] ?? [ApiError, "unexpected"];
  const body: unknown = await response.json().catch(() => null);
  const told = body !== null && typeof body === "object" && "detail" in body ? String(body.detail) : "";
  const seconds = Number.parseFloat(headers.get("Retry-After") ?? "");
  return new Kind({
    status,
    kind,
    message: told || response.statusText || `the service answered ${status}`,
    requestId: headers.get("X-Request-Id") ?? undefined,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  });
}
