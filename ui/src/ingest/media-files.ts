// Chosen and dropped media files, including those in folders, and their duration.

const MEDIA =
  /\.(3gp|aac|aiff?|amr|asf|avi|flac|flv|gif|m2ts|m4[av]|mka|mkv|mov|mp[34]|mpe?g|mts|mxf|og[agv]|opus|ts|vob|wav|webm|wm[av])$/i;

/** Whether a file is video or audio. */
export const isMedia = (file: File) => /^(video|audio)\//.test(file.type) || MEDIA.test(file.name);

/** The dropped files, and the media files of dropped folders. */
export async function droppedFiles(data: DataTransfer): Promise<File[]> {
  // The entries must be read before the first await.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (entries.every((entry) => !entry?.isDirectory)) return [...data.files];
  const all = await Promise.all(
    entries.map(async (entry) => {
      if (!entry) return [];
      const files = await readEntry(entry);
      return entry.isDirectory ? files.filter(isMedia) : files;
    }),
  );
  return all.flat();
}

async function readEntry(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) {
    return new Promise((done) =>
      (entry as FileSystemFileEntry).file(
        (file) => done([file]),
        () => done([]),
      ),
    );
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: File[] = [];
  // A reader returns up to 100 entries per call, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done) => reader.readEntries(done, () => done([])));
    if (!some.length) return found;
    for (const one of some) found.push(...(await readEntry(one)));
  }
}

/**
 * The duration of an MP4 or MOV file in seconds, read from its header; null for other files. The content
 * policy does not allow loading a local file into a player.
 */
export async function mediaDuration(file: File): Promise<number | null> {
  let at = 0;
  let end = file.size;
  for (let boxes = 0; at + 8 <= end && boxes < 100; boxes += 1) {
    const head = new DataView(await file.slice(at, at + 40).arrayBuffer());
    if (head.byteLength < 16) return null;
    const wide = head.getUint32(0) === 1;
    const size = wide ? Number(head.getBigUint64(8)) : head.getUint32(0) || end - at;
    const kind = String.fromCharCode(...[4, 5, 6, 7].map((place) => head.getUint8(place)));
    if (kind === "mvhd" && head.byteLength >= 40) return headerDuration(head);
    if (size < 8) return null;
    if (kind === "moov") {
      end = Math.min(end, at + size);
      at += wide ? 16 : 8;
    } else at += size;
  }
  return null;
}

/** The duration in seconds from an `mvhd` box: ticks over timescale. */
function headerDuration(head: DataView): number | null {
  const late = head.getUint8(8) === 1;
  const ticks = head.getUint32(late ? 28 : 20);
  const length = late ? Number(head.getBigUint64(32)) : head.getUint32(24);
  return ticks && length ? length / ticks : null;
}
