// The moments selected for comparison.
import { savePreference, loadPreference } from "../browser/preferences";
import { m } from "../i18n/language.svelte";
import { toast } from "../state/app.svelte";

/** Maximum number of moments side by side. */
export const MAX_COMPARED = 4;

/** Moment ids in order of selection. */
export const compared = $state({ moments: loadPreference<string[]>("compared", []) });

export function setCompared(moments: string[]) {
  compared.moments = moments;
  savePreference("compared", moments);
}

/** Adds or removes a moment. */
export function toggleCompared(moment: string) {
  const { moments } = compared;
  if (moments.includes(moment)) setCompared(moments.filter((one) => one !== moment));
  else if (moments.length < MAX_COMPARED) setCompared([...moments, moment]);
  else toast(m.compare.max(MAX_COMPARED));
}
