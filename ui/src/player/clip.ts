// Downloads part of a video as a clip.
import { apiError, clipUrl } from "../api/client";
import { errorMessage } from "../api/failure";
import { shortTime } from "../i18n/format";
import { m } from "../i18n/language.svelte";
import { toast } from "../state/app.svelte";
import type { Span } from "../api/types";
import { expandToSentences } from "./sentences/quote";
import { loadSentences } from "./sentences/load";

/** Extends the span to whole sentences of `text`. */
export const withSentences = async (id: string, span: Span, text: string): Promise<Span> =>
  text ? expandToSentences(span, text, await loadSentences(id, span)) : span;

/** Requests the first byte, because a clip takes a while and a download would fail silently. */
async function prepare(address: string) {
  const response = await fetch(address, { credentials: "same-origin", headers: { Range: "bytes=0-0" } });
  if (response.ok) return;
  const body = (await response.json().catch(() => null)) as { detail?: string } | null;
  throw apiError(response.status, body);
}

/**
 * Downloads a clip and reports the outcome; returns whether it was downloaded. The clip is extended to whole
 * sentences of `text`, the text that is shown for it.
 */
export async function saveClip(id: string, span: Span, text = ""): Promise<boolean> {
  try {
    const clip = await withSentences(id, span, text);
    const address = clipUrl(id, clip);
    await prepare(address);
    Object.assign(document.createElement("a"), { href: address, download: "" }).click();
    toast(m.range.clipDownloaded(shortTime(clip.start), shortTime(clip.end)));
    return true;
  } catch (reason) {
    toast(errorMessage(reason instanceof TypeError ? apiError(0, null) : reason));
    return false;
  }
}
