import { expect, it } from "vitest";
import { keepPicture, keptPicture } from "./kept-pictures";

function fakeStore(): Storage {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
    key: (place: number) => [...values.keys()][place] ?? null,
    clear: () => values.clear(),
    get length() {
      return values.size;
    },
  };
}

it("pictures are kept, except the oldest ones", () => {
  const store = fakeStore();
  const names = Array.from({ length: 9 }, (_, place) => keepPicture(`data:${place}`, store));
  expect(new Set(names).size).toBe(9);
  expect(store.length).toBe(6);
  expect(keptPicture(names.at(-1) ?? "", store)).toBe("data:8");
  expect(keptPicture(names[0] ?? "", store)).toBeNull();
});

it("pictures are kept without storage", () => {
  const full = {
    ...fakeStore(),
    setItem: () => {
      throw new Error("full");
    },
  } as Storage;
  expect(keptPicture(keepPicture("data:1", full), full)).toBe("data:1");
});
