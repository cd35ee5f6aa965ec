// Opens the dialog that shares a part of a video, or a bin.
import type { Span } from "../api/types";

/** A part of a video; without a span, the complete video. */
export type SharedPart = { id: string; span: Span | null };
/** A bin by id and name; only some of its selects if there are ids. */
export type SharedBin = { bin: string; name: string; selects?: string[] };

/** `target` is being shared; null while the dialog is closed. */
export const sharing = $state<{ target: SharedPart | SharedBin | null }>({ target: null });

export const openSharing = (id: string, span: Span | null) => (sharing.target = { id, span });
export const shareBin = (bin: SharedBin) => (sharing.target = bin);
export const closeSharing = () => (sharing.target = null);
