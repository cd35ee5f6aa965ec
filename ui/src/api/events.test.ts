import { describe, expect, it } from "vitest";
import { events } from "./events";

describe("server-sent events", () => {
  it("are parsed regardless of chunk boundaries", async () => {
    const text =
      'event: a\ndata: {"said": "été"}\n\n:\n\nevent: b\r\ndata: [1,\r\ndata: 2]\r\n\r\nevent: c\ndata: 3\n\n';
    const bytes = new TextEncoder().encode(text);
    for (const size of [1, 7, bytes.length]) {
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
          controller.close();
        },
      });
      const all = [];
      for await (const one of events(stream)) all.push(one);
      expect(all).toEqual([
        { event: "a", data: { said: "été" } },
        { event: "b", data: [1, 2] },
        { event: "c", data: 3 },
      ]);
    }
  });
});
