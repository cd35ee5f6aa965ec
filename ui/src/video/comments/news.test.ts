import { describe, expect, it, vi } from "vitest";
import type { ActivityList, Comment } from "../../api/types";
import { countNews } from "./news.svelte";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" }));

/** A page of comments, newest first; each is written a minute after the next one. */
const page = (next: string | undefined, ...comments: Partial<Comment>[]) =>
  ({
    next,
    entries: comments.map((comment, index) => ({
      comment: { created_at: `2026-01-01T00:${String(59 - index).padStart(2, "0")}:00Z`, ...comment },
    })),
  }) as ActivityList;

describe("new comments", () => {
  it("are later than the last visit, of others and open", () => {
    const list = page(
      undefined,
      { comment_id: "reply", reply_to: "settled" },
      { comment_id: "own" },
      { comment_id: "question" },
      { comment_id: "settled", settled_at: "2026-01-01T01:00:00Z" },
      { comment_id: "read" },
    );
    expect(countNews(list, "2026-01-01T00:55:00Z", ["own"])).toBe("1");
    expect(countNews(list, "", ["own"])).toBe("2");
    expect(countNews(list, "2026-01-01T00:59:00Z", [])).toBe("");
  });

  it("may be more than a page", () => {
    const list = page("cursor", { comment_id: "a" }, { comment_id: "b" });
    expect(countNews(list, "", [])).toBe("2+");
    expect(countNews(list, "2026-01-01T00:58:00Z", [])).toBe("1");
  });
});
