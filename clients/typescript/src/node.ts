// Node only: files on disk.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";

import type { Source } from "./upload.js";

/** A file on disk to upload; it is streamed. */
export async function openFile(path: string): Promise<Source> {
  const { size } = await stat(path);
  return { name: basename(path), size, stream: () => createReadStream(path) };
}
