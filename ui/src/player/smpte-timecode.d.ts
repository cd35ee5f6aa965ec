declare module "smpte-timecode" {
  /** A number is a frame count; a fractional rate is an NTSC rate. */
  export default class Timecode {
    constructor(timecode: number | string, frameRate: number | [number, number], dropFrame?: boolean);
    readonly frameCount: number;
    toString(): string;
  }
}
