import { expect, it } from "vitest";
import { meant } from "./picker";

const choices = [
  { value: "bicycle" },
  { value: "bicycle pump" },
  { value: "Bike" },
  { value: "7", name: "Harbour" },
];

it("takes what is listed for what is typed", () => {
  for (const [typed, value] of [
    ["bicy", "bicycle"],
    ["BIC", "bicycle"],
    ["bicycle pump", "bicycle pump"],
    [" bike ", "Bike"],
    ["harb", "7"],
  ] as const)
    expect([typed, meant(typed, choices, true)]).toEqual([typed, value]);
});

it("takes what is not listed as it is typed, where that is allowed", () => {
  expect(meant(" Zeppelin", choices, true)).toBe("Zeppelin");
  expect(meant("zeppelin", choices, false)).toBe("bicycle");
  expect(meant("zeppelin", [], false)).toBeUndefined();
  expect(meant(" ", choices, true)).toBeUndefined();
});
