import { expect, it } from "vitest";
import { moveLane, orderLanes } from "./lane-order";

const lanes = (ids: string) => ids.split(" ").map((id) => ({ id }));
const ids = (all: { id: string }[]) => all.map((lane) => lane.id).join(" ");

it("moves a lane by one place within the video's lanes", () => {
  const all = lanes("chapters moments cuts sound");
  expect(ids(orderLanes(all, []))).toBe("chapters moments cuts sound");
  const up = moveLane(all, [], "sound", -1);
  expect(ids(orderLanes(all, up))).toBe("chapters moments sound cuts");
  expect(ids(orderLanes(all, moveLane(all, up, "chapters", 1)))).toBe("moments chapters sound cuts");
  expect(moveLane(all, up, "chapters", -1)).toBe(up);
  expect(moveLane(all, up, "cuts", 1)).toBe(up);
});

it("keeps the order for videos with other lanes", () => {
  const order = moveLane(lanes("chapters moments cuts sound"), [], "sound", -1);
  const other = lanes("moments people cuts sound");
  expect(ids(orderLanes(other, order))).toBe("moments people sound cuts");
  const again = moveLane(other, order, "people", -1);
  expect(ids(orderLanes(other, again))).toBe("people moments sound cuts");
  expect(ids(orderLanes(lanes("chapters moments cuts sound"), again))).toBe("chapters moments sound cuts");
});
