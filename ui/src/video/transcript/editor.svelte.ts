// The state of the transcript as an editor: the selected words, the correction of them, and the search.
import { m } from "../../i18n/language.svelte";
import { shortTime } from "../../i18n/format";
import { toast } from "../../state/app.svelte";
import { titleOf } from "../../state/metadata";
import type { NewSelect } from "../../bins/api";
import type { Playback } from "../../player/playback.svelte";
import type { NewCorrection } from "../log/corrections";
import type { VideoLog } from "../log/log.svelte";
import { moveCaret, selectedRange, type Caret } from "./caret";
import { findMatches, replaceAllMatches, replaceMatch, replaceWords } from "./find";
import { buildWords, isUnsure, linesOf, spanOf, textOf } from "./words";

export class TranscriptEditor {
  private position = $state.raw<Caret>({ caret: 0, anchor: null });
  /** The text that replaces the selected words; null while they are not corrected. */
  draft = $state<string | null>(null);
  query = $state("");
  replacement = $state("");
  /** Index of the current match. */
  matchIndex = $state(0);

  readonly spoken = $derived.by(() => buildWords(this.log.spokenTurns, this.log.sentences));
  readonly caret = $derived(Math.min(this.position.caret, this.spoken.words.length - 1));
  /** The selected words; null if there are none. */
  readonly range = $derived.by(() => {
    const range = selectedRange(this.position);
    return range && range.last < this.spoken.words.length ? range : null;
  });
  readonly span = $derived.by(() => this.range && spanOf(this.spoken, this.log.spokenTurns, this.range));
  readonly text = $derived(this.range ? textOf(this.spoken, this.range) : "");
  readonly matches = $derived.by(() => findMatches(this.log.spokenTurns, this.spoken, this.query));
  readonly match = $derived(this.matches.at(Math.min(this.matchIndex, this.matches.length - 1)));
  /** Indices of the words with a match. */
  readonly matched = $derived(
    new Set(
      this.matches.flatMap(({ first, last }) =>
        Array.from({ length: last - first + 1 }, (_, at) => first + at),
      ),
    ),
  );

  /** The unsure word that was shown last; -1 if there is none. */
  private shown = -1;
  /** Indices of the words that the recogniser is unsure of. */
  readonly unsure = $derived(this.spoken.words.flatMap((word, at) => (isUnsure(word) ? [at] : [])));

  constructor(
    readonly log: VideoLog,
    readonly playback: Playback,
  ) {}

  /** Moves the caret to a word, without a selection. */
  place(caret: number) {
    this.position = { caret, anchor: null };
    this.draft = null;
  }

  /** Moves the caret to the next unsure word, and to the first one after the last; returns its start. */
  nextUnsure(): number {
    // The word at the caret is the next one, unless it was shown before.
    const isShown = this.caret === this.shown;
    this.shown =
      this.unsure.find((at) => at > this.caret || (at === this.caret && !isShown)) ?? this.unsure[0];
    this.place(this.shown);
    return this.spoken.words[this.shown].start;
  }

  /** Marks the words of a turn as checked: right as they were recognised. */
  async check(index: number) {
    const words = this.spoken.words.slice(this.spoken.firsts[index], this.spoken.firsts[index + 1]);
    // A sentence at a time, because a correction has a maximum length.
    const checked = [...new Set(words.map(({ sentence }) => sentence))].map((one) => {
      const own = words.filter(({ sentence }) => sentence === one);
      const text = own.map((word) => word.text).join(" ");
      return {
        of: "words" as const,
        from: text,
        to: text,
        start: own[0].start,
        end: own[own.length - 1].end,
      };
    });
    await this.log.correct(checked, m.spoken.checkedDone);
  }

  select(anchor: number, caret: number) {
    this.position = { caret, anchor };
    this.draft = null;
  }

  /** Extends the selection, or the caret, to a word. */
  extend(caret: number) {
    this.select(this.position.anchor ?? this.caret, caret);
  }

  clear() {
    this.place(Math.max(0, this.caret));
  }

  /** Moves the caret or extends the selection; returns whether the key does so. */
  move(event: { key: string; shiftKey: boolean }): boolean {
    const moved = moveCaret(event, this.spoken, { ...this.position, caret: this.caret });
    if (moved) this.position = moved;
    return moved !== null;
  }

  play() {
    if (this.span) this.playback.play(this.span);
  }

  get looping(): boolean {
    return this.playback.repeated !== null && this.playback.repeated.start === this.span?.start;
  }

  loop() {
    if (this.looping) this.stopLoop();
    else if (this.span) this.playback.loop(this.span);
  }

  private stopLoop() {
    if (!this.playback.repeated) return;
    this.playback.pause();
    this.playback.resume();
  }

  /** The selected words for a bin. */
  get selects(): NewSelect[] {
    return this.span ? [{ video_id: this.log.id, ...this.span }] : [];
  }

  /** The selected words with their speakers and where they are from. */
  get quote(): string {
    if (!this.range || !this.span) return "";
    const lines = linesOf(this.spoken, this.log.spokenTurns, this.range);
    const source = [
      this.log.detail && titleOf(this.log.detail),
      `${shortTime(this.span.start)}–${shortTime(this.span.end)}`,
    ];
    if (lines.length === 1) {
      const [{ speaker, text }] = lines;
      return `${m.common.quoted(text)}\n— ${[speaker, ...source].filter(Boolean).join(", ")}`;
    }
    const spoken = lines.map(({ speaker, text }) => `${speaker}: ${m.common.quoted(text)}`);
    return [...spoken, `— ${source.filter(Boolean).join(", ")}`].join("\n");
  }

  async copyQuote() {
    const { quote } = this;
    try {
      await navigator.clipboard.writeText(quote);
      toast(m.spoken.copied);
    } catch {
      // The clipboard is not available without https.
      toast(quote);
    }
  }

  /** Selects the sentence of the word at the caret. */
  private selectSentence() {
    const { words } = this.spoken;
    const sentence = words[this.caret]?.sentence;
    const isPart = (at: number) => words[at]?.sentence === sentence;
    if (sentence === undefined) return;
    let [first, last] = [this.caret, this.caret];
    while (isPart(first - 1)) first -= 1;
    while (isPart(last + 1)) last += 1;
    this.select(first, last);
  }

  /** Starts to correct the selected words, or the sentence at the caret, which loop meanwhile. */
  correct() {
    if (!this.range) this.selectSentence();
    if (!this.range || !this.span) return;
    this.draft = this.text;
    this.playback.loop(this.span);
  }

  cancel() {
    this.draft = null;
    this.stopLoop();
  }

  /** Saves the correction of the selected words. */
  async save() {
    if (!this.range || this.draft === null) return;
    const changes = replaceWords(this.log.spokenTurns, this.spoken, this.range, this.draft);
    await this.send(changes);
    this.cancel();
    this.clear();
  }

  /** Goes to another match, or to the current one, and moves the caret there. */
  step(by: 1 | 0 | -1) {
    const { length } = this.matches;
    if (!length) return;
    this.matchIndex = (Math.min(this.matchIndex, length - 1) + by + length) % length;
    if (this.match && this.draft === null) this.place(this.match.first);
  }

  /** Replaces the current match and goes to the next one. */
  async replaceOne() {
    if (!this.match) return;
    const before = this.matches.length;
    await this.send(replaceMatch(this.log.spokenTurns, this.spoken, this.match, this.replacement));
    if (this.matches.length === before) this.step(1);
  }

  async replaceAll() {
    const { matches, spoken, replacement } = this;
    await this.send(replaceAllMatches(this.log.spokenTurns, spoken, matches, replacement));
  }

  private async send(changes: NewCorrection[]) {
    if (changes.length) await this.log.correct(changes);
  }
}
