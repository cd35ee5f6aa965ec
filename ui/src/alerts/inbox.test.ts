import { afterEach, describe, expect, it, vi } from "vitest";
import type { AlertMatch } from "../api/types";
import { ALL, listMatches } from "./inbox.svelte";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" }));

const match = (match_id: string, verdict?: AlertMatch["verdict"]) => ({ match_id, verdict }) as AlertMatch;
const ids = (matches: AlertMatch[]) => matches.map((one) => one.match_id);

/** Answers each request with the next page, and collects the queries. */
function serve(...pages: AlertMatch[][]) {
  const queries: string[] = [];
  vi.stubGlobal("fetch", (url: URL) => {
    queries.push(url.pathname + url.search);
    const matches = pages[queries.length - 1];
    const next = queries.length < pages.length ? `p${queries.length}` : undefined;
    return Promise.resolve(Response.json({ matches, unread: 0, next }));
  });
  return queries;
}

describe("the inbox", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("leaves out false alarms, and skips pages that have nothing else", async () => {
    const queries = serve(
      [match("a", "false_alarm")],
      [match("b", "false_alarm"), match("c"), match("d", "confirmed")],
      [],
    );
    const page = await listMatches("", false, "");
    expect(ids(page.matches)).toEqual(["c", "d"]);
    expect(page.next).toBe("p2");
    expect(queries).toEqual(["/inbox", "/inbox?cursor=p1"]);
  });

  it("ends with the last page", async () => {
    serve([match("a", "false_alarm")]);
    expect((await listMatches("", false, "")).matches).toEqual([]);
  });

  it("keeps a match that was dismissed while it is shown", async () => {
    serve([match("a", "false_alarm"), match("b", "false_alarm")]);
    expect(ids((await listMatches("", false, "", "", [match("b")])).matches)).toEqual(["b"]);
  });

  it("lists all states, or one", async () => {
    const queries = serve([match("a", "false_alarm")], [match("a", "false_alarm")]);
    expect(ids((await listMatches("", true, ALL)).matches)).toEqual(["a"]);
    expect(ids((await listMatches("boats", false, "false_alarm")).matches)).toEqual(["a"]);
    expect(queries).toEqual(["/inbox?unread=true", "/alerts/boats/matches?verdict=false_alarm"]);
  });
});
