import { describe, expect, it } from "vitest";
import type { Share } from "../api/types";
import { shareTimes } from "./times";

const part = (video_id: string, start: number, end: number) => ({ video_id, start, end });

describe("the times of a link", () => {
  it("are those of the part of a video", () => {
    const share = { ...part("a", 2, 4.5), parts: [part("a", 2, 4.5)] } as Share;
    expect(shareTimes(share)).toBe("0:02–0:04.5");
  });

  it("are the number and the length of the selects of a bin", () => {
    const share = { ...part("a", 2, 4.5), bin_id: "b1", parts: [part("a", 2, 4.5), part("b", 0, 60)] };
    expect(shareTimes(share as Share)).toBe("2 selects, 1:03");
    expect(shareTimes({ ...share, parts: [part("a", 2, 4.5)] } as Share)).toBe("1 select, 0:03");
  });
});
