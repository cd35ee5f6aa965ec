// Separates the results that match well from the weaker ones.
import type { Hit } from "../../api/types";

/** Results at or above this probability are more likely present than not. */
export const LIKELY = 0.5;
/** How many of the nearest results are shown if none matches well. */
export const NEAREST = 5;

/** The minimum probability and similarity (0..1) of a result that matches well. */
export type Limits = { probability?: number; similarity?: number };

/** `strong` is whether those shown match well; if not, they are the nearest ones. */
export type Parts = { shown: Hit[]; weaker: Hit[]; strong: boolean };

/** The probability decides if there is one, because it is calibrated. A result without a score is no match of a text. */
export function isStrong({ p_present, score }: Hit, { probability, similarity }: Limits): boolean {
  if (p_present !== undefined) return p_present >= (probability ?? LIKELY);
  if (score === undefined || score === null) return true;
  return similarity === undefined || score >= similarity;
}

/** Splits results, best first, into those to show and the weaker ones. */
export function splitByStrength(hits: Hit[], limits: Limits): Parts {
  const shown = hits.filter((hit) => isStrong(hit, limits));
  if (!shown.length) return { shown: hits.slice(0, NEAREST), weaker: hits.slice(NEAREST), strong: false };
  return { shown, weaker: hits.filter((hit) => !shown.includes(hit)), strong: true };
}
