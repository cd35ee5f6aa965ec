// Sends requests: retries reads while the service is unreachable or busy, and throws error responses.
import { type ApiError, apiError, type ShotlogError, Unreachable } from "./errors.js";

export interface TransportOptions {
  fetch: (request: Request) => Promise<Response>;
  /** Maximum time for a response, seconds. */
  timeout: number;
  /** Maximum retries of a read. */
  retries: number;
}

const initialBackoff = 0.5;
const maxBackoff = 10;

export const sleep = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Sends a request and returns its buffered response. */
export async function send(request: Request, options: TransportOptions): Promise<Response> {
  let retries = isRead(request) ? options.retries : 0;
  for (let backoff = initialBackoff; ; backoff *= 2) {
    let failure: ShotlogError;
    let wait: number | undefined;
    try {
      const attempt = retries > 0 ? request.clone() : request;
      const timed = new Request(attempt, { signal: AbortSignal.timeout(options.timeout * 1000) });
      const response = await buffered(await options.fetch(timed));
      if (response.status < 400) return response;
      const error: ApiError = await apiError(response);
      failure = error;
      if (error.status === 503) wait = Math.max(backoff, error.retryAfter ?? 0);
    } catch (error) {
      failure = unreachable(error);
      if (isRefusal(error)) wait = backoff;
    }
    if (retries === 0 || wait === undefined || wait > maxBackoff) throw failure;
    await sleep(wait);
    retries -= 1;
  }
}

/** Reads the whole body of a response. */
export async function buffered(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength > 0 ? body : null, { status, statusText, headers });
}

export function unreachable(error: unknown): Unreachable {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Unreachable(reason || "the service cannot be reached", { cause: error });
}

function isRead(request: Request): boolean {
  return (
    request.method === "GET" ||
    /\/(query|ask|evidence|intervals|moments\/read)$/.test(new URL(request.url).pathname)
  );
}

/** Whether the connection was refused; browsers do not report it. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}
