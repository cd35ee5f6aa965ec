import { describe, expect, it, vi } from "vitest";
import type { Entity } from "../../api/types";
import { peopleIn } from "./name-person";

// The API client reads the page's address.
vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" }));

const person = (entity_id: string, first_seen: number, last_seen: number, spans?: number[][]) =>
  ({ entity_id, first_seen, last_seen, ...(spans ? { timeline: { spans } } : {}) }) as Entity;

describe("the people in a moment", () => {
  const all = [
    person("always", 0, 60),
    person("ends", 0, 60, [
      [0, 10],
      [50, 60],
    ]),
    person("later", 20, 30),
  ];

  it("are those who are visible in it, not only before and after", () => {
    const ids = (start: number, end: number) =>
      peopleIn(all, { start, end }).map(({ entity_id }) => entity_id);
    expect(ids(9, 12)).toEqual(["always", "ends"]);
    expect(ids(10, 20)).toEqual(["always"]);
    expect(ids(25, 26)).toEqual(["always", "later"]);
    expect(ids(60, 70)).toEqual([]);
  });
});
