import { describe, expect, it, vi } from "vitest";
import type { Intervals } from "../../api/types";
import { link, parse } from "../../state/address.svelte";
import { searchParams } from "../search";
import {
  countTimes,
  describeProof,
  describeTimes,
  loadTimes,
  needs,
  timesCsv,
  timesExpression,
  timesRequest,
  timesText,
  withPage,
  wordsOf,
} from "./times";

// The API client reads the page's address.
vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" }));

const span = (start: number, end: number) => ({ moment_id: "", start, end, timecode: "", proofs: [] });
const page = (videos: Record<string, [number, number][]>, more: Partial<Intervals> = {}): Intervals => ({
  expression: {},
  videos: Object.entries(videos).map(([video_id, spans]) => ({
    video_id,
    filename: `${video_id}.mp4`,
    video_url: "",
    duration: 60,
    spans: spans.map(([start, end]) => span(start, end)),
  })),
  not_analyzed: {},
  unknown_videos: [],
  truncated_texts: [],
  ...more,
});
const searchOf = (params: Parameters<typeof link<"search">>[1]) =>
  searchParams(parse(link("search", params)));

describe("the request for exact times", () => {
  it("has the conditions, and the text as said or on screen", () => {
    expect(timesExpression({ q: "", where: "" })).toBeNull();
    expect(timesExpression({ q: "", where: '{"not":{"people":true}}' })).toEqual({ not: { people: true } });
    const ferry = { any: [{ says: "ferry" }, { reads: "ferry" }] };
    expect(timesExpression({ q: " ferry ", where: "" })).toEqual(ferry);
    expect(timesExpression({ q: "ferry", where: '{"sees":"car"}' })).toEqual({
      all: [{ sees: "car" }, ferry],
    });
    expect(describeTimes({ q: "The ferry, the ferry!", where: "" })).toBe(
      "“The ferry, the ferry!” said or on screen, as one phrase, in this order",
    );
    expect(wordsOf("“The ferry”, the ferry's the!")).toEqual(["The", "ferry", "the", "ferry's"]);
    expect(describeTimes({ q: "ferry", where: '{"not":{"people":true}}' })).toBe(
      "“ferry” said or on screen · no people",
    );
  });

  it("has the videos and the filters on videos", () => {
    const schema = { filters: { collections: { type: "list[str]" }, min_people: { type: "int" } } } as never;
    const filters = { collections: ["north"], min_people: ["2"] };
    const search = searchOf({ q: "fog", video: ["a"], times: true, filters });
    expect(search.times).toBe(true);
    expect(timesRequest(search, schema)).toMatchObject({
      video_ids: ["a"],
      filters: { collections: ["north"] },
    });
    expect(timesRequest(searchOf({ q: "fog" }), schema).filters).toEqual({});
  });
});

describe("what needs a picture or sound", () => {
  it("is a text, which is said or on screen, and some conditions", () => {
    const needed = (q: string, where?: unknown) =>
      (["picture", "sound"] as const).filter((one) =>
        needs({ q, where: where ? JSON.stringify(where) : "" }, one),
      );
    expect(needed("fog")).toEqual(["picture", "sound"]);
    expect(needed("", { all: [{ not: { sees: "car" } }, { speech: true }] })).toEqual(["picture"]);
    expect(needed("", { says: '"reads":' })).toEqual(["sound"]);
  });
});

describe("pages", () => {
  it("continue the last video and collect what was not analyzed", () => {
    const gap = (ids: string[], videos = ids.length) => ({ videos, video_ids: ids, parts: [] });
    const first = withPage(null, page({ a: [[0, 1]] }, { not_analyzed: { eyes: gap(["x"], 3) }, next: "2" }));
    const parts = [{ video_id: "z", start: 0, end: 1 }];
    const both = withPage(
      first,
      page({ a: [[2, 3]], b: [[4, 5]] }, { not_analyzed: { eyes: { ...gap(["x", "y"]), parts } } }),
    );
    expect(both.videos.map(({ spans }) => spans.length)).toEqual([2, 1]);
    expect(countTimes(both)).toBe(3);
    expect(both.unknown).toEqual({ eyes: { ids: ["x", "y", "z"], more: 2 } });
    expect(both.next).toBeUndefined();
  });

  it("are loaded until there are enough times, also after empty ones", async () => {
    const pages = [page({}, { next: "2" }), page({ a: [[0, 1]] }, { next: "3" }), page({ a: [[2, 3]] })];
    const sent: unknown[] = [];
    vi.stubGlobal("fetch", (_: URL, { body }: { body: string }) => {
      sent.push((JSON.parse(body) as { cursor: unknown }).cursor);
      return Promise.resolve(Response.json(pages[sent.length - 1]));
    });
    const request = timesRequest(searchOf({ q: "fog" }), null);
    const first = await loadTimes(request, null, 1);
    expect(sent).toEqual([null, "2"]);
    const all = await loadTimes(request, first, 100);
    expect(sent).toEqual([null, "2", "3"]);
    expect(await loadTimes(request, all, 100)).toBe(all);
  });
});

describe("times", () => {
  it("name what proves them", () => {
    const moment = { moment_id: "", start: 0, end: 1 };
    const proof = (term: object, moments: object[], more?: number, absent = false) =>
      describeProof({
        term: term as never,
        absent,
        more,
        moments: moments.map((one) => ({ ...moment, ...one })),
      });
    expect(proof({ reads: "fog" }, [{ text: "FOG TODAY" }, { text: "FOG TODAY" }], 2)).toBe(
      "“fog” on screen: FOG TODAY, +2",
    );
    expect(proof({ sees: "vehicle" }, [{ label: "car" }, { label: "bus" }])).toBe("with vehicle: car, bus");
    expect(proof({ sees: "car" }, [{ label: "car" }])).toBe("with car");
    expect(proof({ people: { at_least: 1 } }, [{ count: 2 }])).toBe("people: 2");
    expect(proof({ people: { at_least: 1 } }, [{}], 1, true)).toBe("no people");
  });

  it("are a table for spreadsheets and for the clipboard", () => {
    const { videos } = page({ "=a,b": [[65.25, 66]] });
    const proofs = [{ term: { says: 'a "b"' } as never, absent: false, moments: [] }];
    videos[0].spans[0] = { ...videos[0].spans[0], proofs };
    expect(timesCsv(videos).split("\r\n")).toEqual([
      "Video,Start (s),End (s),Length (s),Shown by",
      '"\'=a,b.mp4",65.25,66,0.75,"says “a ""b""”"',
    ]);
    expect(timesText(videos)).toBe('=a,b.mp4\t1:05.25\t1:06\t0:00.75\tsays “a "b"”');
  });
});
