// Uploads with progress.
import { apiError, Unreachable } from "./errors.js";
import { buffered, unreachable } from "./transport.js";

/** A file to upload: a browser's `File`, or the result of `openFile` of `shotlog/node`. */
export interface Source {
  name: string;
  /** Size in bytes. */
  size: number;
  stream(): AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;
}

/** Called with the number of bytes sent and the file size. */
export type UploadProgress = (sent: number, total: number) => void;

export interface Upload {
  url: string;
  headers: Record<string, string>;
  fields: Record<string, unknown>;
  source: Source;
  progress: UploadProgress | undefined;
}

/** Uploads a file. In a browser only XMLHttpRequest reports upload progress. */
export function upload(options: Upload, fetch: (request: Request) => Promise<Response>): Promise<Response> {
  const inBrowser = typeof XMLHttpRequest !== "undefined" && options.source instanceof Blob;
  return inBrowser ? byXmlHttpRequest(options, options.source as Source & Blob) : byFetch(options, fetch);
}

function byXmlHttpRequest(options: Upload, file: Source & Blob): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of textFields(options.fields)) form.append(name, value);
  form.append("file", file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", options.url);
    for (const [name, value] of Object.entries(options.headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => {
      // Multipart headers are not counted.
      options.progress?.(Math.min(event.loaded, file.size), file.size);
    });
    request.addEventListener("error", () => reject(new Unreachable("the upload was interrupted")));
    request.addEventListener("load", () => {
      const headers = new Headers();
      for (const name of ["Retry-After", "X-Request-Id"]) {
        const value = request.getResponseHeader(name);
        if (value !== null) headers.set(name, value);
      }
      const { status, statusText } = request;
      const response = new Response(request.responseText, { status, statusText, headers });
      if (status < 400) resolve(response);
      else apiError(response).then(reject);
    });
    request.send(form);
  });
}

async function byFetch(options: Upload, fetch: (request: Request) => Promise<Response>): Promise<Response> {
  const boundary = `shotlog-${randomLetters()}${randomLetters()}`;
  const parts = multipart(options, boundary);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = await parts.next();
      if (part.done) controller.close();
      else controller.enqueue(part.value);
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
  const headers = { ...options.headers, "Content-Type": `multipart/form-data; boundary=${boundary}` };
  // Missing in the DOM types.
  const duplex = { duplex: "half" };
  let response: Response;
  try {
    response = await buffered(
      await fetch(new Request(options.url, { method: "POST", headers, body, ...duplex })),
    );
  } catch (error) {
    throw unreachable(error);
  }
  if (response.status >= 400) throw await apiError(response);
  return response;
}

/** The fields and the file as `multipart/form-data`. */
async function* multipart(
  { fields, source, progress }: Upload,
  boundary: string,
): AsyncGenerator<Uint8Array> {
  const part = (name: string, rest: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${rest}`;
  const filename = source.name.replace(/["\r\n]/g, encodeURIComponent);
  const head = [
    ...textFields(fields).map(([name, value]) => part(name, `\r\n\r\n${value}\r\n`)),
    part("file", `; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`),
  ];
  yield new TextEncoder().encode(head.join(""));
  let sent = 0;
  for await (const bytes of source.stream() as AsyncIterable<Uint8Array>) {
    yield bytes;
    sent += bytes.byteLength;
    progress?.(sent, source.size);
  }
  yield new TextEncoder().encode(`\r\n--${boundary}--\r\n`);
}

const randomLetters = () => Math.random().toString(36).slice(2);

/** Fields with a value, as text; objects become JSON. */
function textFields(fields: Record<string, unknown>): [string, string][] {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return present.map(([name, value]) => [
    name,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
}
