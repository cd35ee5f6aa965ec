// Calls to `/shares`.
import { api, videoPath } from "../api/client";
import type { Share, ShareList } from "../api/types";
import type { SharedBin, SharedPart } from "./sharing.svelte";

/** Maximum number of links that the service lists per page. */
const MAX_SHARES = 500;

/** A page of links, newest first: those of a video or of a bin, or all. */
export const listShares = (query: Record<string, string>) =>
  api<ShareList>(`shares?${new URLSearchParams({ limit: String(MAX_SHARES), ...query })}`);

/** Creates a link that expires after some seconds. Without a title, it has that of the video or bin. */
export function createShare(target: SharedPart | SharedBin, title: string, expires: number) {
  const [path, what] =
    "bin" in target
      ? [`bins/${encodeURIComponent(target.bin)}`, { select_ids: target.selects }]
      : [videoPath(target.id), target.span && { start: target.span.start, end: target.span.end }];
  return api<Share>(`${path}/shares`, { json: { ...what, title: title || null, expires_in: expires } });
}

export const withdrawShare = ({ share_id: id }: Share) => api(`shares/${id}`, { method: "DELETE" });
