import { expect, it } from "vitest";
import { isFinal, errorReason } from "./failure";

it("shows an error without its type name", () => {
  for (const type of ["ValueError", "NotFoundError", "ConnectionError", "OSError", "BudgetExhausted"])
    expect(errorReason(`${type}: the file is a picture: no video`)).toBe("The file is a picture: no video");
  expect(errorReason("Cancelled: by request")).toBe("Cancelled: by request");
  expect(errorReason("NotFoundError: http://a.b/c answered 404")).toBe("http://a.b/c answered 404");
  expect(errorReason("no type: no prefix")).toBe("No type: no prefix");
});

it("treats a file that cannot be analysed as final", () => {
  const image = "ValueError: the file is a picture (JPEG), not a video";
  const isFinalError = (error: string, source = "a.jpg", stage: "chunking" | "fetching" = "fetching") =>
    isFinal({ error, source, stage });
  expect([
    isFinalError(image),
    isFinalError(image, "a.jpg", "chunking"),
    isFinalError(image, "https://a.b/c", "chunking"),
  ]).toEqual([true, true, true]);
  expect(isFinalError("ValueError: 418", "https://a.b/c")).toBe(false);
  for (const other of ["TimeoutError: x", "NotFoundError: x", "Cancelled: by request"])
    expect(isFinalError(other)).toBe(false);
});
