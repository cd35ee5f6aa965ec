// Calls to `/bins`. A version is sent as `If-Match`, so that a change based on outdated data is refused.
import { api, ApiError, serviceUrl } from "../api/client";
import type { Bin, BinChanged, BinList, SelectList, SelectUpdate } from "../api/types";

/** A moment to add to a bin. */
export type NewSelect = { video_id: string; start: number; end: number };
export type BinDetails = { name: string; description: string };
export type BinOrder = "name" | "changed";

/** Status of a change that is based on an outdated version. */
const PRECONDITION_FAILED = 412;
export const isConflict = (error: unknown) =>
  error instanceof ApiError && error.status === PRECONDITION_FAILED;
const NOT_FOUND = 404;
/** Whether a bin or a select does not exist. */
export const isGone = (error: unknown) => error instanceof ApiError && error.status === NOT_FOUND;

const binPath = (id: string) => `bins/${encodeURIComponent(id)}`;
const selectPath = (id: string, select: string) => `${binPath(id)}/selects/${encodeURIComponent(select)}`;
const ifMatch = (version?: number): Record<string, string> =>
  version === undefined ? {} : { "If-Match": `"${version}"` };

export const listBins = (order: BinOrder, limit: number, cursor = "") =>
  api<BinList>(`bins?${new URLSearchParams({ order, limit: String(limit), ...(cursor ? { cursor } : {}) })}`);

export const createBin = (details: BinDetails & { collection?: string }) =>
  api<Bin>("bins", { json: details });

export const getBin = (id: string) => api<Bin>(binPath(id));

export const updateBin = (id: string, json: BinDetails, version?: number) =>
  api<Bin>(binPath(id), { method: "PATCH", json, headers: ifMatch(version) });

export const deleteBin = (id: string, version?: number) =>
  api(binPath(id), { method: "DELETE", headers: ifMatch(version) });

export const listSelects = (id: string, offset: number, limit: number) =>
  api<SelectList>(`${binPath(id)}/selects?offset=${offset}&limit=${limit}`);

export const addSelects = (id: string, selects: NewSelect[]) =>
  api<BinChanged>(`${binPath(id)}/selects`, { json: { selects } });

export const updateSelect = (id: string, select: string, json: SelectUpdate, version?: number) =>
  api<BinChanged>(selectPath(id, select), { method: "PATCH", json, headers: ifMatch(version) });

export const splitSelect = (id: string, select: string, at: number, version?: number) =>
  api<BinChanged>(`${selectPath(id, select)}/split`, { json: { at }, headers: ifMatch(version) });

/** Moves selects before another one, or to the end if `before` is null. */
export const moveSelects = (id: string, selects: string[], before: string | null, version?: number) =>
  api<Bin>(`${binPath(id)}/selects/move`, {
    json: { select_ids: selects, ...(before === null ? {} : { before }) },
    headers: ifMatch(version),
  });

export const removeSelects = (id: string, selects: string[], version?: number) =>
  api<Bin>(`${binPath(id)}/selects/remove`, { json: { select_ids: selects }, headers: ifMatch(version) });

/** Renames a tag in all selects; null removes it. */
export const renameTag = (id: string, from: string, to: string | null, version?: number) =>
  api<Bin>(`${binPath(id)}/tags/rename`, { json: { from, to }, headers: ifMatch(version) });

export const undoChange = (id: string, version?: number) =>
  api<Bin>(`${binPath(id)}/undo`, { method: "POST", headers: ifMatch(version) });

/** URL of a file that is made of a bin: its selects in a format, as clips or as one video. */
export function binFileUrl(
  id: string,
  file: "export" | "clips" | "string-out",
  query: Record<string, string> = {},
): string {
  const parameters = new URLSearchParams(query).toString();
  return serviceUrl(`${binPath(id)}/${file}${parameters && `?${parameters}`}`).href;
}
