import { expect, it } from "vitest";
import { shareAfterKey, shareAt } from "./split";

const limits = { min: 20, max: 80 };
const press = (key: string, shiftKey = false) => ({ key, shiftKey });

it("follows the pointer within its limits", () => {
  expect([150, 300, 900, -5].map((position) => shareAt(position, 100, 400, limits))).toEqual([
    20, 50, 80, 20,
  ]);
  expect(shareAt(10, 0, 0, limits)).toBe(20);
});

it("moves by the arrow keys of its direction", () => {
  expect(shareAfterKey(press("ArrowRight"), "columns", 50, limits)).toBe(52);
  expect(shareAfterKey(press("ArrowLeft", true), "columns", 50, limits)).toBe(40);
  expect(shareAfterKey(press("ArrowDown"), "rows", 79, limits)).toBe(80);
  expect(shareAfterKey(press("ArrowUp"), "rows", 50, limits)).toBe(48);
  expect(shareAfterKey(press("Home"), "rows", 50, limits)).toBe(20);
  expect(shareAfterKey(press("End"), "columns", 50, limits)).toBe(80);
});

it("leaves other keys alone", () => {
  for (const key of ["ArrowUp", "ArrowDown", "Tab", " "])
    expect(shareAfterKey(press(key), "columns", 50, limits)).toBeNull();
  expect(shareAfterKey(press("ArrowLeft"), "rows", 50, limits)).toBeNull();
});
