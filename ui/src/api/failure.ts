// Errors of calls, and error strings of the service: `TypeName: message`.
import { capitalize } from "../i18n/format";
import type { Job } from "./types";

export const errorMessage = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The message without the type, capitalised. */
export function errorReason(error: string): string {
  const text = error.replace(/^[A-Z]\w*(?:Error|Exhausted): /, "");
  // A URL is not capitalised.
  return /^\w+:/.test(text) ? text : capitalize(text);
}

const isUrl = (source: string) => /^https?:/.test(source);

/**
 * Whether a retry is pointless because the file cannot be analysed. The content of a URL may change.
 */
export const isFinal = ({ error, source, stage }: Pick<Job, "error" | "source" | "stage">) =>
  Boolean(error?.startsWith("ValueError: ")) &&
  !(isUrl(source) && (stage === "starting" || stage === "fetching"));
