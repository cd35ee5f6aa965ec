// Scales a picture down and encodes it as JPEG, so that it stays below the service's limits. Loaded when the
// first picture is given.
import { dataUrl } from "../../browser/data-url";

/** Longest side in pixels. The service compares smaller pictures than that. */
const MAX_SIDE = 1024;
/** Longest data URL, well below the default `http.max_json_bytes`. */
const MAX_LENGTH = 700_000;
/** Qualities of the JPEG, tried in this order until it is small enough. */
const QUALITIES = [0.88, 0.7, 0.5];

/** The size with at most `MAX_SIDE` pixels on the longer side; neither side is 0. */
export function fitSize(width: number, height: number): { width: number; height: number } {
  const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
  const side = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  return { width: side(width), height: side(height) };
}

/** The picture as a data URL; null if the browser cannot read it. */
export async function scalePicture(file: Blob): Promise<string | null> {
  // The browser turns the picture upright.
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap) return null;
  const canvas = Object.assign(document.createElement("canvas"), fitSize(bitmap.width, bitmap.height));
  const context = canvas.getContext("2d");
  if (!context) return null;
  // JPEG has no transparency.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  let url: string | null = null;
  for (const quality of QUALITIES) {
    const jpeg = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/jpeg", quality));
    if (!jpeg) return null;
    url = await dataUrl(jpeg);
    if (url.length <= MAX_LENGTH) break;
  }
  return url;
}
