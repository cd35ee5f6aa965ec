// The part of the paused picture that is marked by dragging, to search for it.
import type { Region } from "../../api/pictures";

/** Smaller boxes, as fractions of the picture's sides, are taken for clicks. */
const MIN_SIDE = 0.02;

type Point = { x: number; y: number };
type Size = { width: number; height: number };

const clamp = (share: number) => Math.min(1, Math.max(0, share));

/** Where a point of the stage lies in the picture, which fits into the stage, as fractions of its sides. */
export function pointInPicture({ x, y }: Point, stage: Size, picture: Size): Point {
  const scale = Math.min(stage.width / picture.width, stage.height / picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  return {
    x: clamp((x - (stage.width - width) / 2) / width),
    y: clamp((y - (stage.height - height) / 2) / height),
  };
}

/** The box between two points. */
export const regionBetween = (a: Point, b: Point): Region => [
  Math.min(a.x, b.x),
  Math.min(a.y, b.y),
  Math.abs(a.x - b.x),
  Math.abs(a.y - b.y),
];

export class RegionSelection {
  region = $state.raw<Region | null>(null);
  private from: Point | null = null;
  /** Whether the pointer has marked a box since it was pressed. */
  dragged = false;

  start(point: Point) {
    this.from = point;
    this.dragged = false;
  }

  /** Marks the box up to this point; returns whether there is one. */
  move(point: Point): boolean {
    if (!this.from) return false;
    const region = regionBetween(this.from, point);
    if (region[2] < MIN_SIDE || region[3] < MIN_SIDE) return false;
    this.region = region;
    this.dragged = true;
    return true;
  }

  end() {
    this.from = null;
  }

  clear() {
    this.from = null;
    this.region = null;
  }
}
