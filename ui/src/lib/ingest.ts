// Sends a video to the service, by file or by address, and remembers how to send it again.
import { api, upload } from "./api";
import { loadJobs } from "./jobs";
import { retries, uploads } from "./state.svelte";
import type { IngestAccepted } from "./types";

export type Options = Record<string, string | number>;

/** Throws what the service refuses; `failed` is told of a later try that is refused. */
export async function ingest(source: File | string, options: Options, failed: (reason: unknown) => void) {
  const accepted =
    typeof source === "string"
      ? await api<IngestAccepted>("videos/url", { json: { url: source, ...options } })
      : await send(source, options);
  retries[accepted.job_id] = () => {
    delete retries[accepted.job_id];
    void ingest(source, options, failed).catch(failed);
  };
  await loadJobs();
}

async function send(file: File, options: Options): Promise<IngestAccepted> {
  const form = new FormData();
  for (const [key, value] of Object.entries(options)) form.append(key, String(value));
  form.append("file", file, file.name);
  uploads.push({ name: file.name, percent: 0, line: "Uploading" });
  const shown = uploads[uploads.length - 1];
  try {
    return await upload(form, (part) => {
      shown.percent = part * 100;
      shown.line = part < 1 ? `Uploading, ${Math.floor(part * 100)} %` : "Uploaded";
    });
  } finally {
    uploads.splice(uploads.indexOf(shown), 1);
  }
}
