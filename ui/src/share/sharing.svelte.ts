// Opens the dialog that shares a part of a video.
import type { Span } from "../api/types";

/** A part of a video; without a span, the complete video. */
export type SharedPart = { id: string; span: Span | null };

/** `part` is being shared; null while the dialog is closed. */
export const sharing = $state<{ part: SharedPart | null }>({ part: null });

export const openSharing = (id: string, span: Span | null) => (sharing.part = { id, span });
export const closeSharing = () => (sharing.part = null);
