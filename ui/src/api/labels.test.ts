import { expect, it } from "vitest";
import { rankedLabels } from "./labels";
import type { Hit } from "./types";

it("stated labels come before uncertain ones", () => {
  const hit = {
    objects: ["boat"],
    tags: ["seashore", "boat", "still", "pier", "volcano"],
    certainty: { boat: 0.4, seashore: 0.2, pier: 0.9, volcano: 0.3 },
  } as unknown as Hit;
  expect(rankedLabels(hit)).toEqual([
    { label: "boat" },
    { label: "still" },
    { label: "pier" },
    { label: "volcano", probability: 0.3 },
    { label: "seashore", probability: 0.2 },
  ]);
  expect(rankedLabels({} as Hit)).toEqual([]);
});
