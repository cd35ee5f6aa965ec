// Times as the reader wants them, and times that they type.
import Timecode from "smpte-timecode";
import { clock } from "./format";

/** `clock`: minutes and seconds. `seconds`: seconds with their parts. `frames`: SMPTE. */
export type TimeStyle = "clock" | "seconds" | "frames";
export const TIME_STYLES: TimeStyle[] = ["clock", "seconds", "frames"];

/** A rate that is measured is near to the one that is meant. */
const NEAR = 0.02;
/** Rates of television, which drop the numbers of frames but for 24; as numerator over 1001. */
const FRACTIONS = [24000, 30000, 60000];

type Rate = { rate: number | [number, number]; perSecond: number; drop: boolean };

function rateOf(frameRate: number): Rate | null {
  const whole = Math.round(frameRate);
  if (whole < 1) return null;
  const fraction = FRACTIONS.find((one) => Math.abs(one / 1001 - frameRate) < NEAR / 2);
  if (fraction) return { rate: [fraction, 1001], perSecond: fraction / 1001, drop: fraction !== 24000 };
  return Math.abs(whole - frameRate) < NEAR ? { rate: whole, perSecond: whole, drop: false } : null;
}

/** The time of a frame is its number over the rate; a little more is still in it. */
const EDGE = 1e-4;

/** The second as SMPTE timecode, with `;` before the frames where numbers are dropped. */
function smpte(seconds: number, { rate, perSecond, drop }: Rate): string {
  const count = Math.floor(Math.max(0, seconds) * perSecond + EDGE * perSecond);
  return new Timecode(count, rate, drop).toString();
}

/** `frameRate` is not known of every video: without it, frames are hundredths. */
export function timeText(seconds: number, style: TimeStyle, frameRate?: number): string {
  if (style === "clock") return clock(seconds);
  const rate = style === "frames" && frameRate ? rateOf(frameRate) : null;
  if (rate) return smpte(seconds, rate);
  const hundredths = Math.floor(Math.max(0, seconds) * 100 + EDGE);
  return `${clock(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}`;
}

/** The second that `83.5`, `1:23`, `1:02:03.25` or a timecode `00:01:23:12` names; null for anything else. */
export function readTime(text: string, frameRate?: number): number | null {
  const given = text.trim();
  if (/^\d+:\d+:\d+[:;]\d+$/.test(given)) {
    const rate = frameRate ? rateOf(frameRate) : null;
    if (!rate) return null;
    try {
      return new Timecode(given, rate.rate, rate.drop).frameCount / rate.perSecond;
    } catch {
      return null;
    }
  }
  if (!/^(\d+:){0,2}\d+([.,]\d+)?$/.test(given)) return null;
  return given.split(":").reduce((all, part) => all * 60 + Number(part.replace(",", ".")), 0);
}

/** The middle of the frame so many after the one that is shown at a second. */
export function frameAfter(seconds: number, frames: number, frameRate = 25): number {
  const current = Math.floor(seconds * frameRate + EDGE * frameRate);
  return Math.max(0, current + frames + 0.5) / frameRate;
}
