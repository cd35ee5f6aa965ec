import { expect, it } from "vitest";
import { matchChoice } from "./picker";

const choices = [
  { value: "bicycle" },
  { value: "bicycle pump" },
  { value: "Bike" },
  { value: "7", name: "Harbour" },
];

it("matches typed text to a listed choice", () => {
  for (const [typed, value] of [
    ["bicy", "bicycle"],
    ["BIC", "bicycle"],
    ["bicycle pump", "bicycle pump"],
    [" bike ", "Bike"],
    ["harb", "7"],
  ] as const)
    expect([typed, matchChoice(typed, choices, true)]).toEqual([typed, value]);
});

it("accepts unlisted text if allowed", () => {
  expect(matchChoice(" Zeppelin", choices, true)).toBe("Zeppelin");
  expect(matchChoice("zeppelin", choices, false)).toBe("bicycle");
  expect(matchChoice("zeppelin", [], false)).toBeUndefined();
  expect(matchChoice(" ", choices, true)).toBeUndefined();
});
