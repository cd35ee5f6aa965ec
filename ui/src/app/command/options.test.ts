import { describe, expect, it } from "vitest";
import { localOptions, rank, type Option } from "./options";

const texts = (options: Option[]) => options.map(({ text }) => text);

describe("the command field", () => {
  it("offers the pages before anything is typed", () => {
    expect(texts(localOptions(" "))).toEqual([
      "Library",
      "Search",
      "Ask",
      "People",
      "Bins",
      "Jobs",
      "Alerts",
      "Newest comments",
      "Share links",
      "Settings",
    ]);
  });

  it("offers matching pages, then a search and a question", () => {
    expect(texts(localOptions("se"))).toEqual(["Search", "Settings", "Search for “se”", "Ask “se”"]);
    const [search, ask] = localOptions("a red boat");
    expect(search).toMatchObject({ group: "moments", href: "#/search?q=a+red+boat" });
    expect(ask).toMatchObject({ group: "moments", href: "#/ask?q=a+red+boat" });
  });

  it("ranks names that start with the text first, and keeps their order otherwise", () => {
    const options = ["A harbour", "Harbour 2", "Market", "harbour 1"].map<Option>((text) => ({
      group: "bins",
      text,
      href: "#/",
    }));
    expect(texts(rank(options, "HARBOUR"))).toEqual(["Harbour 2", "harbour 1", "A harbour"]);
  });
});
