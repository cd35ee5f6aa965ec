import { describe, expect, it, vi } from "vitest";
import { parse } from "../state/address.svelte";

// The client derives the service's address from that of the page.
vi.stubGlobal("document", { baseURI: "http://localhost/" });
const { askRequest } = await import("./ask");

describe("the request of a question", () => {
  it("has the scope of the address", () => {
    const where = { all: [{ speech: true }, { not: { sees: "car" } }] };
    const query = new URLSearchParams({ video: "1", moment: "m_1_2_3", where: JSON.stringify(where) });
    expect(askRequest("Who speaks?", parse(`#/ask?${query}`), null)).toEqual({
      question: "Who speaks?",
      video_ids: ["1"],
      analyzer: null,
      moment_ids: ["m_1_2_3"],
      filters: { where },
    });
  });

  it("has no conditions by default", () => {
    expect(askRequest("Who speaks?", parse("#/ask"), null).filters).toEqual({});
  });
});
