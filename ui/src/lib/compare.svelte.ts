// The moments that the reader sets aside to see side by side.
import { savePreference, loadPreference } from "./preferences";
import { m } from "./language.svelte";
import { toast } from "./state.svelte";

/** As many as fit beside each other. */
export const MAX_COMPARED = 4;

/** By their names, in the order in which they were set aside. */
export const compared = $state({ moments: loadPreference<string[]>("compared", []) });

export function setCompared(moments: string[]) {
  compared.moments = moments;
  savePreference("compared", moments);
}

/** Sets a moment aside, or back. */
export function toggleCompared(moment: string) {
  const { moments } = compared;
  if (moments.includes(moment)) setCompared(moments.filter((one) => one !== moment));
  else if (moments.length < MAX_COMPARED) setCompared([...moments, moment]);
  else toast(m.compare.max(MAX_COMPARED));
}
