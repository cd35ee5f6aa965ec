// What a link shares, as text.
import type { Share, Span } from "../api/types";
import { clock, shortTime } from "../i18n/format";
import { m } from "../i18n/language.svelte";

export const spanTimes = ({ start, end }: Span) => `${shortTime(start)}–${shortTime(end)}`;

/** The part of a video that a link shares, or the number and the length of the selects of a bin. */
export function shareTimes({ bin_id: bin, parts, ...span }: Share): string {
  if (!bin) return spanTimes(span);
  const length = parts.reduce((sum, { start, end }) => sum + end - start, 0);
  return `${m.bins.selects(parts.length)}, ${clock(Math.round(length))}`;
}
