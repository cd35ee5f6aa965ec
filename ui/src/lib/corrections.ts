// What people put right, and what of a sentence they have changed.
import type { Span } from "./types";

export type CorrectionOf = "words" | "screen_text" | "speaker" | "person";

/** What is wrong, and what is right; without times everywhere in the video. */
export type NewCorrection = { of: CorrectionOf; from: string; to: string; start?: number; end?: number };

export type Correction = {
  id: string;
  of: CorrectionOf;
  from: string;
  to: string;
  start: number | null;
  end: number | null;
  created_at: string;
  places: number;
  spans: [number, number][];
};

/** Corrections, and the job that computes afresh what builds on them. */
export type Corrections = { corrections: Correction[]; job_id: string | null };

const plain = (word: string) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean);

/** How long the longest common part of what begins at each pair of places is. */
function common(a: string[], b: string[]): number[][] {
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

/** The runs of words that differ, by their places in `a`. */
function hunks(a: string[], b: string[]): Hunk[] {
  const lengths = common(a, b);
  const found: Hunk[] = [];
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
    found.push(hunk);
  }
  return found;
}

/** How often words stand one after the other, whatever their case and punctuation. */
function times(all: string[], some: string[]): number {
  const [text, phrase] = [all.map(plain), some.map(plain)];
  return text.filter((_, at) => phrase.every((word, place) => text[at + place] === word)).length;
}

/**
 * What has to be put right for a text to become another: as few words as say where, with a neighbour where
 * the same words stand more than once or where some are only added.
 */
export function changes(before: string, after: string): { from: string; to: string }[] {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  let rest = hunks(a, b);
  for (;;) {
    const vague = rest.find(({ start, end }) => {
      const from = a.slice(start, end);
      return (!from.some((word) => plain(word)) || times(a, from) > 1) && end - start < a.length;
    });
    if (!vague) break;
    if (vague.start > 0) {
      vague.start -= 1;
      vague.to.unshift(a[vague.start]);
    } else {
      vague.to.push(a[vague.end]);
      vague.end += 1;
    }
    // One that has grown into another is one with it.
    rest = rest.reduce<Hunk[]>((kept, hunk) => {
      const last = kept.at(-1);
      if (last && hunk.start < last.end) {
        last.to.push(...hunk.to.slice(last.end - hunk.start));
        last.end = Math.max(last.end, hunk.end);
      } else kept.push(hunk);
      return kept;
    }, []);
  }
  return rest.map(({ start, end, to }) => ({ from: a.slice(start, end).join(" "), to: to.join(" ") }));
}

/** The corrections that show within a stretch. */
export const within = (all: Correction[], span: Span, of: CorrectionOf[]): Correction[] =>
  all.filter(
    (one) => of.includes(one.of) && one.spans.some(([start, end]) => start < span.end && end > span.start),
  );
