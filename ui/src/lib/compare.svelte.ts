// The moments that the reader sets aside to see side by side.
import { keep, kept } from "./kept";
import { m } from "./language.svelte";
import { toast } from "./state.svelte";

/** As many as fit beside each other. */
export const MOST = 4;

/** By their names, in the order in which they were set aside. */
export const compared = $state({ moments: kept<string[]>("compared", []) });

export function setAside(moments: string[]) {
  compared.moments = moments;
  keep("compared", moments);
}

/** Sets a moment aside, or back. */
export function toggle(moment: string) {
  const { moments } = compared;
  if (moments.includes(moment)) setAside(moments.filter((one) => one !== moment));
  else if (moments.length < MOST) setAside([...moments, moment]);
  else toast(m.compare.max(MOST));
}
