// The pictures that searches name: those of files, and frames of videos, which the service has.
import { apiError, exactFrameUrl } from "../../api/client";
import { parseFrameReference } from "../../api/pictures";
import { dataUrl } from "../../browser/data-url";
import { errorMessage } from "../../api/failure";
import { navigate } from "../../state/address.svelte";
import { toast } from "../../state/app.svelte";
import { keepPicture, keptPicture } from "./kept-pictures";

/** Width of a frame that is searched for, in pixels. */
const FRAME_WIDTH = 1024;

/** URL of the picture for display; empty if it is no longer kept. */
export function pictureUrl(name: string, width: number): string {
  const frame = parseFrameReference(name);
  return frame ? exactFrameUrl(frame.video_id, frame.t, width) : (keptPicture(name) ?? "");
}

/** The picture as a data URL for the service; null if it is no longer kept. */
export async function loadPicture(name: string, signal?: AbortSignal): Promise<string | null> {
  const frame = parseFrameReference(name);
  if (!frame) return keptPicture(name);
  return loadImage(exactFrameUrl(frame.video_id, frame.t, FRAME_WIDTH), signal);
}

/** Searches for the person that a picture shows, in other videos than those in which they are known. */
export async function lookForPerson(url: string, without: string[], name = "") {
  try {
    navigate("search", { picture: keepPicture(await loadImage(url)), without, name });
  } catch (reason) {
    toast(errorMessage(reason));
  }
}

async function loadImage(url: string, signal?: AbortSignal): Promise<string> {
  const response = await fetch(url, { credentials: "same-origin", signal }).catch((reason: unknown) => {
    throw signal?.aborted ? reason : apiError(0, null);
  });
  if (!response.ok) {
    const body = (await response.json().catch(() => null)) as { detail?: string } | null;
    throw apiError(response.status, body);
  }
  return dataUrl(await response.blob());
}
