// Formats times, counts, lists and the ids of the service.
import type { Names } from "./names";
import { m, number } from "./language.svelte";
import { serviceLabel } from "./service-labels.svelte";

export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${tail}` : tail;
}

/** Formats a total length, to the nearest second. */
export const roundedClock = (seconds: number) => clock(Math.round(seconds));

/** Parses `83.5`, `1:23` or `1:02:03.25` to seconds; null for anything else. */
export function parseClock(text: string): number | null {
  const trimmed = text.trim();
  if (!/^(\d+:){0,2}\d+([.,]\d+)?$/.test(trimmed)) return null;
  return trimmed.split(":").reduce((all, part) => all * 60 + Number(part.replace(",", ".")), 0);
}

/** Formats seconds as `clock` does, with the fraction that they have, to the millisecond. */
export function exactClock(seconds: number): string {
  const thousandths = Math.round(Math.max(0, seconds) * 1000);
  const fraction = String(thousandths % 1000)
    .padStart(3, "0")
    .replace(/0+$/, "");
  return clock(thousandths / 1000) + (fraction && `.${fraction}`);
}

/** Formats seconds as `exactClock` does, rounded to tenths, which a moment usually has. */
export const shortTime = (seconds: number) => exactClock(Math.round(seconds * 10) / 10);

export const humanize = (id: string) => id.replaceAll("_", " ");
export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
export const megabytes = (bytes: number) => m.common.megabytes(number(bytes / 1e6, 1, true));
export const joinList = (names: string[]) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${m.common.and} ${names.at(-1)}`;

/** The page's name for an id of the service, if it has one. */
export const lookupName = (names: Names, id: string): string | undefined =>
  Object.hasOwn(names, id) ? names[id] : undefined;
/** The page's name for an id, or the id itself in readable form. */
export const displayName = (names: Names, id: string) => lookupName(names, id) ?? capitalize(humanize(id));
/** A label of the service in the page's language. */
export const translate = (label: string) => lookupName(m.labels, label) ?? label;
/** The name of an analyzer or aggregator. */
export const analyzerName = (id: string) => translate(serviceLabel(id) ?? capitalize(humanize(id)));
export const stageName = (stage: string) => displayName(m.jobs.stages, stage);
