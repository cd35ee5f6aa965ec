// Parses server-sent events of a POST response, which EventSource cannot request.

/** Yields the events of a byte stream, whose chunks may contain several events or parts of one. */
export async function* events(bytes: ReadableStream<Uint8Array>) {
  const reader = bytes.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      text += decoder.decode(value, { stream: !done });
      const parts = text.split(/\r?\n\r?\n/);
      text = parts.pop() ?? "";
      for (const part of parts) {
        const field = (name: string) =>
          part
            .split(/\r?\n/)
            .filter((line) => line.startsWith(`${name}:`))
            .map((line) => line.slice(name.length + 1).replace(/^ /, ""))
            .join("\n");
        const data = field("data");
        if (data) yield { event: field("event"), data: JSON.parse(data) as unknown };
      }
      if (done) return;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}
