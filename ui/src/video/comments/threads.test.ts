import { describe, expect, test } from "vitest";
import type { Comment } from "../../api/types";
import { threads } from "./threads";

const comment = (comment_id: string, reply_to?: string) => ({ comment_id, reply_to }) as Comment;
const ids = (comments: Comment[]) =>
  threads(comments).map(({ first, replies }) => [first, ...replies].map(({ comment_id }) => comment_id));

describe("threads", () => {
  test("a reply follows its comment, also if another comment stands between them", () => {
    expect(ids([comment("a"), comment("b"), comment("c", "a"), comment("d", "b")])).toEqual([
      ["a", "c"],
      ["b", "d"],
    ]);
  });
  test("replies to a deleted comment stay together", () => {
    expect(ids([comment("b", "gone"), comment("c", "gone")])).toEqual([["b", "c"]]);
  });
});
