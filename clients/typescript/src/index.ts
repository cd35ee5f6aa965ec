export * from "./client.js";
export * from "./errors.js";
export type * from "./generated/schema.js";
export { pictureUrl } from "./picture.js";
export type { Utterance } from "./transcript.js";
export type { Source, UploadProgress } from "./upload.js";
