// The inbox: the moments that alerts have found. The number of unread ones is shown in the header.
import { api, ApiError } from "../api/client";
import type { AlertMatch, AlertMatchList } from "../api/types";
import { authorName } from "../state/app.svelte";
import { alertPath } from "./alerts";

const FORBIDDEN = 403;

export const inbox = $state({
  /** Whether the token has access to alerts; false until that is known. */
  available: false,
  unread: 0,
});
let forbidden = false;

/** Loads the number of unread matches. If that fails, the number stays until the next attempt. */
export async function loadUnread() {
  if (forbidden) return;
  try {
    const { unread } = await api<AlertMatchList>("inbox?limit=1&unread=true");
    inbox.unread = unread;
    inbox.available = true;
  } catch (reason) {
    forbidden = reason instanceof ApiError && reason.status === FORBIDDEN;
  }
}

/** `verdict` in the address that lists matches in all states. */
export const ALL = "all";

/**
 * Lists the matches of an alert, or of all alerts if `alert` is empty; those in a state if there is a `verdict`,
 * otherwise all but false alarms. `shown` are the matches that stay: they may have become false alarms here.
 */
export async function listMatches(
  alert: string,
  unread: boolean,
  verdict: string,
  cursor = "",
  shown: AlertMatch[] = [],
): Promise<AlertMatchList> {
  const query = new URLSearchParams();
  if (unread) query.set("unread", "true");
  if (verdict && verdict !== ALL) query.set("verdict", verdict);
  const path = alert ? `${alertPath(alert)}/matches` : "inbox";
  const ids = new Set(shown.map((one) => one.match_id));
  // The service filters by one state only. A page may have nothing but false alarms.
  for (let next: string | undefined = cursor; ;) {
    if (next) query.set("cursor", next);
    const page: AlertMatchList = await api<AlertMatchList>(query.size ? `${path}?${query}` : path);
    if (verdict) return page;
    const matches = page.matches.filter((one) => one.verdict !== "false_alarm" || ids.has(one.match_id));
    if (matches.length || !page.next) return { ...page, matches };
    next = page.next;
  }
}

/** Marks matches of an alert, or of all alerts if `alert` is empty. Returns how many changed. */
export async function markMatches(
  alert: string,
  selection: { match_ids: string[] } | { until: string },
  read: boolean,
): Promise<number> {
  const path = alert ? `${alertPath(alert)}/matches/read` : "inbox/read";
  const { marked } = await api<{ marked: number }>(path, { json: { ...selection, read } });
  void loadUnread();
  return marked;
}

export type Verdict = AlertMatch["verdict"];

/** Stores whether a match is right, with a reason that may be empty; without a verdict, it is open again. */
export const judgeMatch = ({ alert, match_id }: AlertMatch, verdict: Verdict, note: string) =>
  api<AlertMatch>(`${alertPath(alert)}/matches/${encodeURIComponent(match_id)}`, {
    method: "PATCH",
    json: { verdict: verdict ?? null, note: note.trim() || null, author: authorName() },
  });

/** Adds the first page of a list to the pages that are shown. Returns null if they do not overlap. */
export function mergeMatches(shown: AlertMatch[], first: AlertMatch[]): AlertMatch[] | null {
  const ids = new Set(first.map((one) => one.match_id));
  const others = shown.filter((one) => !ids.has(one.match_id));
  const overlaps = others.length < shown.length || !shown.length;
  return overlaps ? [...first, ...others] : null;
}
