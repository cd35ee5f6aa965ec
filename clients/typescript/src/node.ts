// Node only: files on disk.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";

import type { Source } from "./upload.js";

/**
 * A file on disk to upload; it is streamed.
 *
 * @example
 * ```ts
 * import { Shotlog } from "shotlog";
 * import { openFile } from "shotlog/node";
 *
 * const client = new Shotlog();
 * const job = await client.ingestFile(await openFile("harbour.mp4"), {
 *   progress: (sent, total) => console.log(sent, "of", total),
 * });
 * console.log(job.source); // harbour.mp4
 * ```
 */
export async function openFile(path: string): Promise<Source> {
  const { size } = await stat(path);
  return { name: basename(path), size, stream: () => createReadStream(path) };
}
