// Corrections, and the word changes between two versions of a sentence.
import { m } from "../../i18n/language.svelte";
import type { Span } from "../../api/types";

export type CorrectionKind = "words" | "screen_text" | "speaker" | "person" | "chapter";

/** A correction to create; without times it applies to the whole video. */
export type NewCorrection = { of: CorrectionKind; from: string; to: string; start?: number; end?: number };

export type Correction = {
  id: string;
  of: CorrectionKind;
  from: string;
  to: string;
  start: number | null;
  end: number | null;
  created_at: string;
  places: number;
  spans: [number, number][];
};

/** Corrections, and the job that recomputes dependent results. */
export type Corrections = { corrections: Correction[]; job_id: string | null };

const plain = (word: string) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
const splitWords = (text: string) => text.split(/\s+/).filter(Boolean);

/** Lengths of the longest common subsequence of the suffixes at each pair of indices. */
function commonLengths(a: string[], b: string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i][j] =
        a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

type Hunk = { start: number; end: number; to: string[] };

/** The runs of differing words, as index ranges of `a`. */
function hunks(a: string[], b: string[]): Hunk[] {
  const lengths = commonLengths(a, b);
  const result: Hunk[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i += 1;
      j += 1;
      continue;
    }
    const hunk: Hunk = { start: i, end: i, to: [] };
    while ((i < a.length || j < b.length) && !(i < a.length && j < b.length && a[i] === b[j])) {
      if (j >= b.length || (i < a.length && lengths[i + 1][j] >= lengths[i][j + 1])) i += 1;
      else hunk.to.push(b[j++]);
    }
    hunk.end = i;
    result.push(hunk);
  }
  return result;
}

/** Counts occurrences of a phrase, ignoring case and punctuation. */
function occurrences(all: string[], some: string[]): number {
  const [text, phrase] = [all.map(plain), some.map(plain)];
  return text.filter((_, at) => phrase.every((word, place) => text[at + place] === word)).length;
}

/**
 * The minimal word replacements that turn one text into another. A neighbouring word is included where the
 * words occur more than once, and for insertions.
 */
export function wordChanges(before: string, after: string): { from: string; to: string }[] {
  const [a, b] = [splitWords(before), splitWords(after)];
  let rest = hunks(a, b);
  for (;;) {
    const ambiguous = rest.find(({ start, end }) => {
      const from = a.slice(start, end);
      return (!from.some((word) => plain(word)) || occurrences(a, from) > 1) && end - start < a.length;
    });
    if (!ambiguous) break;
    if (ambiguous.start > 0) {
      ambiguous.start -= 1;
      ambiguous.to.unshift(a[ambiguous.start]);
    } else {
      ambiguous.to.push(a[ambiguous.end]);
      ambiguous.end += 1;
    }
    // Merges hunks that now overlap.
    rest = rest.reduce<Hunk[]>((merged, hunk) => {
      const last = merged.at(-1);
      if (last && hunk.start < last.end) {
        last.to.push(...hunk.to.slice(last.end - hunk.start));
        last.end = Math.max(last.end, hunk.end);
      } else merged.push(hunk);
      return merged;
    }, []);
  }
  return rest.map(({ start, end, to }) => ({ from: a.slice(start, end).join(" "), to: to.join(" ") }));
}

const overlaps = (one: Correction, span: Span) =>
  one.spans.some(([start, end]) => start < span.end && end > span.start);

/** The corrections visible in a turn. If two people speak at once, a rename applies to one of them. */
export function correctionsIn(all: Correction[], line: Span & { speaker: string }): Correction[] {
  return all.filter((one, index) => {
    if (one.of === "words") return overlaps(one, line);
    return (
      one.of === "speaker" && overlaps(one, line) && isRenamedTo(one.to, all.slice(index + 1), line.speaker)
    );
  });
}

/** Whether later corrections turn `name` into `now`. */
function isRenamedTo(name: string, later: Correction[], now: string): boolean {
  const names = new Set([name]);
  for (const { of, from, to } of later) if (of === "speaker" && names.has(from)) names.add(to);
  return names.has(now);
}

/** Labels of unnamed speakers: S1, S2, … */
const LABEL = /^S\d+$/;
/** Whether a speaker has a label such as S1, and no name. */
export const isSpeakerLabel = (speaker: string) => LABEL.test(speaker);

/**
 * A number for each speaker, which determines the colour. It is based on the speaker's original label, so
 * that renaming keeps it; names given to single turns come last.
 */
export function speakerNumbers(speakers: string[], all: Correction[]): Map<string, number> {
  const renames = all.filter(({ of }) => of === "speaker");
  const newNames = new Set(renames.map(({ to }) => to));
  const isLabel = (name: string) => isSpeakerLabel(name) || !newNames.has(name);
  const first = [...speakers, ...renames.flatMap(({ from, to }) => [from, to])].filter(isLabel);
  const labels = [...new Set(first)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const originalLabel = (name: string, before: Correction[]): string | undefined => {
    if (isLabel(name)) return name;
    const index = before.findLastIndex(({ to, start }) => to === name && start === null);
    return index < 0 ? undefined : originalLabel(before[index].from, before.slice(0, index));
  };
  const numbers = new Map<string, number>();
  let others = labels.length;
  for (const name of speakers) {
    const label = originalLabel(name, renames);
    numbers.set(name, label === undefined ? others++ : labels.indexOf(label));
  }
  return numbers;
}

/** What a correction replaced, as the page names it: a person without a name is numbered. */
export const replacedText = ({ of, from }: Correction): string =>
  of === "person" && from.includes("-p") ? m.panels.person(from.split("-p").at(-1) ?? "") : from;
