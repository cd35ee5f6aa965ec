// Formats times in the chosen style and parses typed times.
import Timecode from "smpte-timecode";
import { clock, parseClock } from "../i18n/format";

/** `clock`: minutes and seconds. `seconds`: with hundredths. `frames`: SMPTE timecode. */
export type TimeStyle = "clock" | "seconds" | "frames";
export const TIME_STYLES: TimeStyle[] = ["clock", "seconds", "frames"];

/** Tolerance of a measured frame rate. */
const RATE_TOLERANCE = 0.02;
/** NTSC rates as numerators over 1001; all but 24 use drop-frame timecode. */
const FRACTIONS = [24000, 30000, 60000];

type Rate = { rate: number | [number, number]; perSecond: number; drop: boolean };

function smpteRate(frameRate: number): Rate | null {
  const whole = Math.round(frameRate);
  if (whole < 1) return null;
  const fraction = FRACTIONS.find((one) => Math.abs(one / 1001 - frameRate) < RATE_TOLERANCE / 2);
  if (fraction) return { rate: [fraction, 1001], perSecond: fraction / 1001, drop: fraction !== 24000 };
  return Math.abs(whole - frameRate) < RATE_TOLERANCE ? { rate: whole, perSecond: whole, drop: false } : null;
}

/** Rounding tolerance, in seconds. */
const EPSILON = 1e-4;

/** Formats SMPTE timecode, with `;` before the frames for drop-frame. */
function formatSmpte(seconds: number, { rate, perSecond, drop }: Rate): string {
  const count = Math.floor(Math.max(0, seconds) * perSecond + EPSILON * perSecond);
  return new Timecode(count, rate, drop).toString();
}

/** Parses an exact frame rate such as `30000/1001`; undefined if there is none. */
export function parseFrameRate(fraction: string | null | undefined): number | undefined {
  const [over = NaN, under = 1] = (fraction ?? "").split("/").map(Number);
  const rate = over / under;
  return rate > 0 && Number.isFinite(rate) ? rate : undefined;
}

/**
 * The timecode of the source at a time of the file; undefined if the file has none. `first` is the timecode of
 * the first frame.
 */
export function sourceTimecode(
  seconds: number,
  first: string | null | undefined,
  frameRate: number | undefined,
): string | undefined {
  const rate = first && frameRate ? smpteRate(frameRate) : null;
  if (!first || !rate) return undefined;
  const drop = first.includes(";");
  const frames = Math.floor(Math.max(0, seconds) * rate.perSecond + EPSILON * rate.perSecond);
  try {
    const { frameCount } = new Timecode(first, rate.rate, drop);
    return new Timecode(frameCount + frames, rate.rate, drop).toString();
  } catch {
    return undefined;
  }
}

/** Without `frameRate`, the `frames` style shows hundredths. */
export function formatTime(seconds: number, style: TimeStyle, frameRate?: number): string {
  if (style === "clock") return clock(seconds);
  const rate = style === "frames" && frameRate ? smpteRate(frameRate) : null;
  if (rate) return formatSmpte(seconds, rate);
  const hundredths = Math.floor(Math.max(0, seconds) * 100 + EPSILON);
  return `${clock(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}`;
}

/** Writes a time exactly: with fractions of a second or frames, also where times are shown as a clock. */
export function formatExactTime(seconds: number, style: TimeStyle, frameRate?: number): string {
  return formatTime(seconds, style === "clock" ? "seconds" : style, frameRate);
}

/** Parses `83.5`, `1:23`, `1:02:03.25` or the timecode `00:01:23:12` to seconds; null for anything else. */
export function parseTime(text: string, frameRate?: number): number | null {
  const trimmed = text.trim();
  if (/^\d+:\d+:\d+[:;]\d+$/.test(trimmed)) {
    const rate = frameRate ? smpteRate(frameRate) : null;
    if (!rate) return null;
    try {
      return new Timecode(trimmed, rate.rate, rate.drop).frameCount / rate.perSecond;
    } catch {
      return null;
    }
  }
  return parseClock(trimmed);
}

/** The middle of the frame `frames` after the one at `seconds`. */
export function frameAfter(seconds: number, frames: number, frameRate = 25): number {
  const current = Math.floor(seconds * frameRate + EPSILON * frameRate);
  return Math.max(0, current + frames + 0.5) / frameRate;
}
