// The comments of others since the list of the newest comments was last visited in this browser. Their number
// is shown in the header.
import { api } from "../../api/client";
import type { Activity, ActivityList } from "../../api/types";
import { loadPreference, savePreference } from "../../browser/preferences";
import { ownComments } from "../log/comments";

const SEEN = "commentsSeen";

/** `count` is a number, with a plus if there may be more; empty if there are none. */
export const news = $state({ count: "" });

/** The open comments in the newest entries that are later than `seen`. A reply is as open as its comment. */
export function countNews({ entries, next }: ActivityList, seen: string, own: string[]): string {
  const later = entries.filter(({ comment }) => comment.created_at > seen);
  const settled = new Set(entries.flatMap(({ comment }) => (comment.settled_at ? comment.comment_id : [])));
  const open = later.filter(
    ({ comment: { comment_id: id, reply_to: first } }) => !settled.has(first ?? id) && !own.includes(id),
  );
  return open.length ? `${open.length}${next && later.length === entries.length ? "+" : ""}` : "";
}

/** Counts the new comments. If that fails, the number stays until the next attempt. */
export async function loadNews() {
  const page = await api<ActivityList>("activity").catch(() => null);
  if (page) news.count = countNews(page, loadPreference(SEEN, ""), ownComments());
}

/** Stores that the newest entries have been seen. */
export function markSeen([newest]: Activity[]) {
  if (newest) savePreference(SEEN, newest.comment.created_at);
  news.count = "";
}
