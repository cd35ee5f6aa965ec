import { describe, expect, it } from "vitest";
import { itemForKey, menuPosition } from "./action-menu";

const window = { width: 400, height: 800 };
const menu = { width: 240, height: 300 };
const button = (left: number, top: number) => ({ left, top, bottom: top + 30 });

describe("the position of a menu", () => {
  it("is below its button", () => {
    expect(menuPosition(button(20, 100), menu, window)).toEqual({ left: 20, top: 134 });
  });

  it("stays within the window's right and left edges", () => {
    expect(menuPosition(button(390, 100), menu, window).left).toBe(152);
    expect(menuPosition(button(-30, 100), menu, window).left).toBe(8);
    expect(menuPosition(button(100, 100), { width: 500, height: 10 }, window).left).toBe(8);
  });

  it("is above its button if there is no room below", () => {
    expect(menuPosition(button(20, 700), menu, window).top).toBe(396);
  });

  it("is at the lower edge if there is room neither below nor above", () => {
    const low = { width: 400, height: 400 };
    expect(menuPosition(button(20, 200), menu, low).top).toBe(92);
    expect(menuPosition(button(20, 200), { width: 240, height: 600 }, low).top).toBe(8);
  });

  it("stays within the window while its button is partly outside", () => {
    expect(menuPosition(button(20, -60), menu, window).top).toBe(8);
    expect(menuPosition(button(20, 830), menu, window).top).toBe(492);
  });
});

describe("the keys of a menu", () => {
  const texts = ["Play", "Add to bin", "Copy link", "Compare"];

  it("moves with the arrows and wraps around", () => {
    expect([0, 3].map((from) => itemForKey("ArrowDown", from, texts))).toEqual([1, 0]);
    expect([0, 3].map((from) => itemForKey("ArrowUp", from, texts))).toEqual([3, 2]);
  });

  it("starts at the first or the last item", () => {
    expect(itemForKey("ArrowDown", -1, texts)).toBe(0);
    expect(itemForKey("ArrowUp", -1, texts)).toBe(3);
  });

  it("goes to the ends", () => {
    expect([itemForKey("Home", 2, texts), itemForKey("End", 1, texts)]).toEqual([0, 3]);
  });

  it("goes to the next item that starts with a letter", () => {
    expect([0, 2, 3].map((from) => itemForKey("c", from, texts))).toEqual([2, 3, 2]);
    expect(itemForKey("A", 0, texts)).toBe(1);
    expect(itemForKey("x", 0, texts)).toBe(-1);
  });

  it("ignores other keys and an empty menu", () => {
    expect(["Enter", " ", "Tab", "ArrowLeft"].map((key) => itemForKey(key, 0, texts))).toEqual([
      -1, -1, -1, -1,
    ]);
    expect(itemForKey("ArrowDown", -1, [])).toBe(-1);
  });
});
