// The labels of a search result, those that are stated before those that are only probable.
import type { Hit } from "./types";

/** Tags of the picture with a lower probability than this are uncertain. */
export const LIKELY = 0.5;

/** `probability` (0..1) is that of an uncertain label. */
export type Label = { label: string; probability?: number };

/** Distinct labels: objects and likely tags, then the other tags, the most probable first. */
export function rankedLabels({ objects = [], tags = [], certainty = {} }: Hit): Label[] {
  const uncertain = (label: string) => !objects.includes(label) && (certainty[label] ?? 1) < LIKELY;
  const distinct = [...new Set([...objects, ...tags])];
  const weak = distinct.filter(uncertain).map((label) => ({ label, probability: certainty[label] ?? 0 }));
  return [
    ...distinct.filter((label) => !uncertain(label)).map((label) => ({ label })),
    ...weak.sort((a, b) => b.probability - a.probability),
  ];
}
