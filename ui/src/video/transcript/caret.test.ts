import { expect, it } from "vitest";
import { moveCaret, selectedRange, type Caret } from "./caret";
import { buildWords } from "./words";

const turn = (start: number, text: string) => ({ speaker: "", start, end: start + 1, text });
const spoken = buildWords([turn(0, "a b c"), turn(1, "d"), turn(2, "e f g")], []);

const press = (position: Caret, ...keys: string[]) =>
  keys.reduce((caret, pressed) => {
    const key = pressed.replace("Shift+", "");
    return moveCaret({ key, shiftKey: pressed !== key }, spoken, caret) ?? caret;
  }, position);
const at = (caret: number): Caret => ({ caret, anchor: null });

it("moves by words and turns", () => {
  expect(press(at(1), "ArrowRight", "ArrowRight").caret).toBe(3);
  expect(press(at(0), "ArrowLeft").caret).toBe(0);
  expect(press(at(6), "ArrowRight").caret).toBe(6);
  expect(press(at(2), "ArrowDown").caret).toBe(3);
  expect(press(at(5), "ArrowUp", "ArrowUp").caret).toBe(0);
  expect(press(at(5), "Home").caret).toBe(4);
  expect(press(at(5), "End").caret).toBe(6);
});

it("selects with Shift, the word at the caret first", () => {
  expect(selectedRange(press(at(1), "Shift+ArrowRight"))).toEqual({ first: 1, last: 1 });
  expect(selectedRange(press(at(1), "Shift+ArrowRight", "Shift+ArrowRight"))).toEqual({ first: 1, last: 2 });
  expect(selectedRange(press(at(1), "Shift+ArrowLeft", "Shift+ArrowLeft"))).toEqual({ first: 0, last: 1 });
  expect(selectedRange(press(at(0), "Shift+End", "Shift+ArrowDown"))).toEqual({ first: 0, last: 3 });
  expect(selectedRange(press(at(1), "Shift+ArrowRight", "ArrowRight"))).toBeNull();
});

it("leaves other keys, and a transcript without words, alone", () => {
  expect(moveCaret({ key: "b", shiftKey: false }, spoken, at(0))).toBeNull();
  expect(moveCaret({ key: "End", shiftKey: false }, buildWords([], []), at(0))).toBeNull();
});
