// Draws the sound of a whole file, mirrored about the middle.
import type { Span } from "../../api/types";
import type { Colours } from "./draw";
import { peakBetween, type Wave } from "./waveform";

/** A span with the index of its colour in the palette. */
export type ColouredSpan = Span & { colour: number };

type Picture = {
  wave: Wave;
  /** Sorted by start. */
  speech: ColouredSpan[];
  duration: number;
  time: number;
  range: Span | null;
  width: number;
  height: number;
};

const NEUTRAL = 4;
/** Bars and the gaps between them, in pixels. */
const BAR = 2;
const STEP = 3;
/** The part of the height that the loudest bar takes. */
const LOUDEST = 0.8;
/** The opacity of bars that are yet to be played. */
const AHEAD = 0.7;

/** The colour at each time, called with ascending times. */
export function colourAt(speech: ColouredSpan[]): (t: number) => number | undefined {
  let index = 0;
  return (t) => {
    while (index < speech.length && speech[index].end <= t) index += 1;
    const span = speech[index];
    return span && span.start <= t ? span.colour : undefined;
  };
}

export function drawWaveform(context: CanvasRenderingContext2D, picture: Picture, colours: Colours) {
  const { wave, speech, duration, time, range, width, height } = picture;
  const x = (t: number) => (duration ? (t / duration) * width : 0);
  context.clearRect(0, 0, width, height);
  if (range) {
    context.fillStyle = colours.playhead;
    context.globalAlpha = 0.16;
    context.fillRect(x(range.start), 0, x(range.end) - x(range.start), height);
  }
  const colour = colourAt(speech);
  const seconds = (STEP / width) * duration;
  for (let left = 0; left < width; left += STEP) {
    const from = (left / width) * duration;
    const tall = Math.max(2, height * LOUDEST * peakBetween(wave, from, from + seconds));
    context.fillStyle = colours.palette[colour(from + seconds / 2) ?? NEUTRAL];
    context.globalAlpha = from <= time ? 1 : AHEAD;
    context.fillRect(left, (height - tall) / 2, BAR, tall);
  }
  context.globalAlpha = 1;
  context.fillStyle = colours.playhead;
  context.fillRect(Math.round(x(time)) - 1, 0, 2, height);
}
