// Pictures to search for.

const FORMATS: [name: string, matches: (bytes: Uint8Array) => boolean][] = [
  ["jpeg", (bytes) => startsWith(bytes, 0, [0xff, 0xd8, 0xff])],
  ["png", (bytes) => startsWith(bytes, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ["webp", (bytes) => startsWith(bytes, 0, ascii("RIFF")) && startsWith(bytes, 8, ascii("WEBP"))],
];

const ascii = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
const startsWith = (bytes: Uint8Array, offset: number, expected: number[]) =>
  expected.every((byte, index) => bytes[offset + index] === byte);

/** Bytes that are encoded at once; more arguments of a call could overflow the stack. */
const BLOCK = 0x8000;

/**
 * The data URL of a picture, for the option `image` of a search: the content of a JPEG, PNG or WebP file. Throws
 * a `TypeError` for other content.
 *
 * A search for the left half of a picture, in a service that compares pictures (`vector_fields` of `schema`
 * contains `visual`):
 *
 * ```
 * const image = await pictureUrl(await readFile("harbour.jpg"));
 * const { results } = await client.search(null, { image, region: [0, 0, 0.5, 1] });
 * ```
 *
 * @example
 * ```ts
 * import { pictureUrl } from "shotlog";
 *
 * console.log(await pictureUrl(Uint8Array.of(0xff, 0xd8, 0xff))); // data:image/jpeg;base64,/9j/
 * ```
 */
export async function pictureUrl(picture: Blob | Uint8Array): Promise<string> {
  const bytes = picture instanceof Uint8Array ? picture : new Uint8Array(await picture.arrayBuffer());
  const format = FORMATS.find(([, matches]) => matches(bytes));
  if (!format) throw new TypeError("the picture must be the content of a JPEG, PNG or WebP file");
  let binary = "";
  for (let start = 0; start < bytes.length; start += BLOCK) {
    binary += String.fromCharCode(...bytes.subarray(start, start + BLOCK));
  }
  return `data:image/${format[0]};base64,${btoa(binary)}`;
}
