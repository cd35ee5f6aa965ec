// In which bins videos are used.
import { api } from "../api/client";
import type { BinList } from "../api/types";

/** Number of bins in which a video is used, and of the selects in them. */
export async function binUsage(video: string): Promise<{ bins: number; selects: number }> {
  const { total, video_selects: selects = 0 } = await api<BinList>(
    `bins?limit=1&video_id=${encodeURIComponent(video)}`,
  );
  return { bins: total, selects };
}
