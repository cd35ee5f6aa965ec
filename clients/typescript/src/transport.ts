// Sends requests: reads again while the service is not there or busy. Throws what answers tell of.
import { type ApiError, apiError, type ShotlogError, Unreachable } from "./errors.js";

export interface TransportOptions {
  fetch: (request: Request) => Promise<Response>;
  /** Longest time for an answer, seconds. */
  timeout: number;
  /** Times that a read is sent again. */
  retries: number;
}

const firstPause = 0.5;
const longestPause = 10;

export const sleep = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** The whole answer to a read or a small change. */
export async function send(request: Request, options: TransportOptions): Promise<Response> {
  let left = changesNothing(request) ? options.retries : 0;
  for (let pause = firstPause; ; pause *= 2) {
    let failure: ShotlogError;
    let wait: number | undefined;
    try {
      const again = left > 0 ? request.clone() : request;
      const timed = new Request(again, { signal: AbortSignal.timeout(options.timeout * 1000) });
      const response = await whole(await options.fetch(timed));
      if (response.status < 400) return response;
      const error: ApiError = await apiError(response);
      failure = error;
      if (error.status === 503) wait = Math.max(pause, error.retryAfter ?? 0);
    } catch (error) {
      failure = unreachable(error);
      if (isRefusal(error)) wait = pause;
    }
    if (left === 0 || wait === undefined || wait > longestPause) throw failure;
    await sleep(wait);
    left -= 1;
  }
}

/** An answer whose body is here. */
export async function whole(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength > 0 ? body : null, { status, statusText, headers });
}

export function unreachable(error: unknown): Unreachable {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Unreachable(why || "the service cannot be reached", { cause: error });
}

function changesNothing(request: Request): boolean {
  return (
    request.method === "GET" || /\/(query|ask|evidence|moments\/read)$/.test(new URL(request.url).pathname)
  );
}

/** Whether nothing listens; browsers do not tell. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}
