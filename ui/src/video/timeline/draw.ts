// Draws the visible part of the timeline's lanes on a canvas.
import { clock } from "../../i18n/format";
import { firstReaching, type Item, type Lane } from "./lanes";
import type { Span } from "../../api/types";
import { peakBetween, type Wave } from "./waveform";

export const LANE_HEIGHT = 28;
export const RULER_HEIGHT = 22;
const BAR = LANE_HEIGHT - 6;
const LABEL_FROM = 40;
const WAVE_COLOUR = 0;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];

/** The visible seconds and pixels. */
export type View = { from: number; span: number; width: number; height: number };

export type Colours = { palette: string[]; lane: string; ink: string; quiet: string; playhead: string };

/** Reads the colours of the current scheme. This costs a style pass, so it is done once per scheme. */
export function readColours(element: Element): Colours {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    palette: Array.from({ length: 10 }, (_, index) => colour(`--lane-${index}`)),
    lane: colour("--lane"),
    ink: colour("--on-lane"),
    quiet: colour("--quiet"),
    playhead: colour("--accent"),
  };
}

export function drawTimeline(
  context: CanvasRenderingContext2D,
  lanes: Lane[],
  view: View,
  time: number,
  range: Span | null,
  colours: Colours,
) {
  const x = (t: number) => ((t - view.from) / view.span) * view.width;
  context.clearRect(0, 0, view.width, view.height);
  context.font = "11px Inter, system-ui, sans-serif";
  context.textBaseline = "middle";
  drawRuler(context, view, x, colours);
  lanes.forEach((lane, row) => {
    const top = RULER_HEIGHT + row * LANE_HEIGHT;
    context.fillStyle = colours.lane;
    context.fillRect(0, top, view.width, BAR);
    drawLane(context, lane, top, view, x, colours);
  });
  context.fillStyle = colours.playhead;
  if (range) {
    const [left, right] = [x(range.start), x(range.end)];
    context.globalAlpha = 0.16;
    context.fillRect(left, 0, right - left, view.height);
    context.globalAlpha = 1;
    for (const edge of [left, right]) drawEdge(context, edge, view);
  }
  context.fillRect(Math.round(x(time)) - 1, 0, 2, view.height);
}

/** A range edge with its drag handle. */
function drawEdge(context: CanvasRenderingContext2D, at: number, view: View) {
  context.fillRect(Math.round(at) - 1, 0, 2, view.height);
  context.beginPath();
  context.roundRect(at - 4, 2, 8, RULER_HEIGHT - 6, 3);
  context.fill();
}

function drawRuler(
  context: CanvasRenderingContext2D,
  view: View,
  x: (t: number) => number,
  colours: Colours,
) {
  const step = STEPS.find((one) => (one / view.span) * view.width > 64) ?? 7200;
  context.fillStyle = colours.quiet;
  for (let t = Math.ceil(view.from / step) * step; t <= view.from + view.span; t += step) {
    const at = x(t);
    const label = clock(t);
    context.fillRect(at, 4, 1, 12);
    // Labels that do not fit are omitted.
    if (at + 5 + context.measureText(label).width <= view.width) context.fillText(label, at + 5, 9);
  }
}

function drawLane(
  context: CanvasRenderingContext2D,
  lane: Lane,
  top: number,
  view: View,
  x: (t: number) => number,
  colours: Colours,
) {
  if (lane.wave) drawWave(context, lane.wave, top, view, colours);
  let drawn = -1;
  for (let index = firstReaching(lane, view.from); index < lane.items.length; index += 1) {
    const item = lane.items[index];
    if (item.start > view.from + view.span) break;
    const left = x(item.start);
    const right = Math.max(x(item.end), left + 2);
    // Skips items on pixels that are already drawn.
    if (right < drawn + 0.5) continue;
    drawn = right;
    context.fillStyle = colours.palette[item.colour % colours.palette.length];
    if (lane.kind === "marks") context.fillRect(left - 1, top, 3, BAR);
    else if (lane.kind === "levels") {
      const tall = Math.max(2, BAR * (item.level ?? 0));
      context.fillRect(left, top + BAR - tall, Math.max(1, right - left - 1), tall);
    } else drawSpan(context, item, left, right, top, colours);
  }
}

/** Draws one column per pixel, symmetric about the middle of the lane. */
function drawWave(context: CanvasRenderingContext2D, wave: Wave, top: number, view: View, colours: Colours) {
  context.fillStyle = colours.palette[WAVE_COLOUR];
  const step = view.span / view.width;
  for (let left = 0; left < view.width; left += 1) {
    const from = view.from + left * step;
    const tall = Math.max(1, BAR * peakBetween(wave, from, from + step));
    context.fillRect(left, top + (BAR - tall) / 2, 1, tall);
  }
}

function drawSpan(
  context: CanvasRenderingContext2D,
  item: Item,
  left: number,
  right: number,
  top: number,
  colours: Colours,
) {
  const width = Math.max(1, right - left - 1);
  if (width < 6) {
    context.fillRect(left, top, width, BAR);
    return;
  }
  context.beginPath();
  context.roundRect(left, top, width, BAR, 3);
  context.fill();
  if (width < LABEL_FROM) return;
  context.save();
  context.clip();
  context.fillStyle = colours.ink;
  context.fillText(item.label.slice(0, 200), Math.max(left, 0) + 6, top + BAR / 2 + 0.5);
  context.restore();
}
