import { expect, it } from "vitest";
import { moved, ordered } from "./lane-order";

const lanes = (ids: string) => ids.split(" ").map((id) => ({ id }));
const ids = (all: { id: string }[]) => all.map((lane) => lane.id).join(" ");

it("moves a lane by one place among those of the video, and no farther than its edges", () => {
  const all = lanes("chapters moments cuts sound");
  expect(ids(ordered(all, []))).toBe("chapters moments cuts sound");
  const up = moved(all, [], "sound", -1);
  expect(ids(ordered(all, up))).toBe("chapters moments sound cuts");
  expect(ids(ordered(all, moved(all, up, "chapters", 1)))).toBe("moments chapters sound cuts");
  expect(moved(all, up, "chapters", -1)).toBe(up);
  expect(moved(all, up, "cuts", 1)).toBe(up);
});

it("keeps the order for videos that lack some lanes or have others", () => {
  const order = moved(lanes("chapters moments cuts sound"), [], "sound", -1);
  const other = lanes("moments people cuts sound");
  expect(ids(ordered(other, order))).toBe("moments people sound cuts");
  const again = moved(other, order, "people", -1);
  expect(ids(ordered(other, again))).toBe("people moments sound cuts");
  expect(ids(ordered(lanes("chapters moments cuts sound"), again))).toBe("chapters moments sound cuts");
});
