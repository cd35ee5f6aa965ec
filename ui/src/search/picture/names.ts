// Names of searches without a text.
import { parseFrameReference, VISUAL } from "../../api/pictures";
import { clock } from "../../i18n/format";
import { m } from "../../i18n/language.svelte";
import { videoTitle } from "../../state/app.svelte";

/** What a search for a picture is called. */
export function pictureName(picture: string): string {
  const frame = parseFrameReference(picture);
  return frame
    ? m.picture.frame(m.search.momentOf(videoTitle(frame.video_id), clock(frame.t)))
    : m.picture.name;
}

/** What a search for moments similar to another one is called. */
export const similarName = (like: string, field: string, moment = like) =>
  field === VISUAL ? m.search.looksLike(moment) : m.search.similarTo(moment);
