// Calls to `/shares`.
import { api, videoPath } from "../api/client";
import type { Share, ShareList } from "../api/types";
import type { SharedPart } from "./sharing.svelte";

/** Maximum number of links that the service lists per page. */
const MAX_SHARES = 500;

/** The newest links to parts of a video. */
export const listShares = async (id: string) =>
  (await api<ShareList>(`shares?limit=${MAX_SHARES}&video_id=${encodeURIComponent(id)}`)).shares;

/** Creates a link that expires after some seconds. Without a title, it has that of the video. */
export const createShare = ({ id, span }: SharedPart, title: string, expires: number) =>
  api<Share>(`${videoPath(id)}/shares`, {
    json: { start: span?.start, end: span?.end, title: title || null, expires_in: expires },
  });

export const withdrawShare = ({ share_id: id }: Share) => api(`shares/${id}`, { method: "DELETE" });
