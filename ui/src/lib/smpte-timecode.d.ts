declare module "smpte-timecode" {
  /** A number is a count of frames; a rate that is no whole number is one of those of television. */
  export default class Timecode {
    constructor(timecode: number | string, frameRate: number | [number, number], dropFrame?: boolean);
    readonly frameCount: number;
    toString(): string;
  }
}
