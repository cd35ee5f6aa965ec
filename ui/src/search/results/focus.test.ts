import { describe, expect, it } from "vitest";
import { neighbour } from "./focus";

describe("the arrow keys", () => {
  const list = [0, 100, 200].map((top) => ({ left: 10, top }));
  // Two rows of three results, and a third row with one.
  const grid = [0, 1, 2, 3, 4, 5, 6].map((index) => ({
    left: (index % 3) * 100,
    top: Math.floor(index / 3) * 80 + (index % 3) * 0.4,
  }));

  it("move up and down in a list, and leave left and right to the browser", () => {
    expect(neighbour(list, 0, "ArrowDown")).toBe(1);
    expect(neighbour(list, 1, "ArrowUp")).toBe(0);
    expect(neighbour(list, 0, "ArrowRight")).toBe(-1);
    expect(neighbour(list, 2, "ArrowLeft")).toBe(-1);
  });

  it("stop at the ends", () => {
    expect(neighbour(list, 0, "ArrowUp")).toBe(-1);
    expect(neighbour(list, 2, "ArrowDown")).toBe(-1);
    expect(neighbour(grid, 0, "ArrowLeft")).toBe(-1);
    expect(neighbour(grid, 6, "ArrowRight")).toBe(-1);
    expect(neighbour(list, -1, "ArrowDown")).toBe(-1);
    expect(neighbour(list, 0, "Enter")).toBe(-1);
  });

  it("move by rows and columns in a grid", () => {
    expect(neighbour(grid, 1, "ArrowDown")).toBe(4);
    expect(neighbour(grid, 5, "ArrowUp")).toBe(2);
    expect(neighbour(grid, 2, "ArrowRight")).toBe(3);
    expect(neighbour(grid, 3, "ArrowLeft")).toBe(2);
  });

  it("move to the closest result of a shorter row", () => {
    expect(neighbour(grid, 5, "ArrowDown")).toBe(6);
  });
});
