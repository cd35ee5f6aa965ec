// Links to moments that are similar to a moment: by its picture, or by its texts.
import { comparesPictures, VISUAL } from "../api/pictures";
import { link } from "../state/address.svelte";
import { app, isListedAudioOnly } from "../state/app.svelte";

/** `picture` is absent if the service does not compare pictures, or the video has none. */
export function similarLinks(video: string, moment: string): { text: string; picture?: string } {
  const text = link("search", { like: moment });
  if (!comparesPictures(app.schema) || isListedAudioOnly(video)) return { text };
  return { text, picture: link("search", { like: moment, field: VISUAL }) };
}
