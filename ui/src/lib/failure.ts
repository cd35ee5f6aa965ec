// What the service says of a failure: `TypeName: message`.
import { capitalize } from "./format";
import type { Job } from "./types";

/** The message without the type, as a sentence begins. */
export function errorReason(error: string): string {
  const text = error.replace(/^[A-Z]\w*(?:Error|Exhausted): /, "");
  // An address stays as it is.
  return /^\w+:/.test(text) ? text : capitalize(text);
}

const isUrl = (source: string) => /^https?:/.test(source);

/**
 * Whether trying again ends in the same way, since the file is none that can be analysed. What an address
 * serves may change.
 */
export const isFinal = ({ error, source, stage }: Pick<Job, "error" | "source" | "stage">) =>
  Boolean(error?.startsWith("ValueError: ")) &&
  !(isUrl(source) && (stage === "starting" || stage === "fetching"));
