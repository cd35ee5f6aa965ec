// Everything stored about one video, loaded once, with derived views.
import { api, ApiError, videoPath } from "../../api/client";
import { listComments } from "./comments";
import { speakerNumbers, type Correction, type Corrections, type NewCorrection } from "./corrections";
import { loadJobs } from "../../jobs/jobs";
import { m } from "../../i18n/language.svelte";
import { errorMessage } from "../../api/failure";
import { app, toast } from "../../state/app.svelte";
import { allItems, analyzersIn, chunkText, isRecord, presentationsOf, valueAt } from "../../api/outputs";
import type {
  Aggregates,
  Chunk,
  Comment,
  Entity,
  Peaks,
  Presentation,
  Preview,
  Span,
  VideoDetail,
} from "../../api/types";

const PAGE = 500;

/** Number of palette colours used for speakers. */
const SPEAKER_COLOURS = 6;

/** Audio peaks per second, and their maximum number. */
const PEAKS_PER_SECOND = 20;
const MAX_PEAKS = 8000;
/** Audio that never exceeds this fraction of full scale counts as silent. */
const SILENCE_LEVEL = 0.01;

/** A turn of speech; `speaker` is empty without diarization. */
export type SpeechTurn = Span & { speaker: string; text: string };
/** `speaker` needs diarization; `words` are there if their times are known. `confidence` is a probability. */
export type Sentence = Span & {
  text: string;
  speaker?: string;
  words?: (Span & { text: string; confidence?: number })[];
};

export class VideoLog {
  detail = $state.raw<VideoDetail | null>(null);
  chunks = $state.raw<Chunk[]>([]);
  aggregates = $state.raw<Aggregates>({});
  /** Ids of the aggregators with a result. */
  private available = $state.raw<string[]>([]);
  linkedPeople = $state.raw<Entity[]>([]);
  /** Corrections made by users. */
  corrections = $state.raw<Correction[]>([]);
  /** The loaded comments, in the order of the video. */
  comments = $state.raw<Comment[]>([]);
  /** Cursor of the comments after them; null if there are none. */
  nextComments = $state.raw<string | null>(null);
  /** The job that recomputes results after a correction. */
  correctionsJob = $state("");
  /** Whole sentences of the speech, also across chunks; empty for other analyzers of speech. */
  sentences = $state.raw<Sentence[]>([]);
  /** Times of shot cuts in seconds; empty for videos without stored signals. */
  cuts = $state.raw<number[]>([]);
  /** Loudness over time; null until loaded, and without audible sound. */
  peaks = $state.raw<Peaks | null>(null);
  error = $state("");
  loading = $state(true);

  /** The analyzers with outputs, as the page shows them. */
  readonly analyzers: Presentation[] = $derived(
    presentationsOf(app.schema?.presentation.analyzers ?? [], analyzersIn(this.chunks)),
  );
  /** The aggregators with results, as the page shows them. */
  readonly aggregators: Presentation[] = $derived(
    presentationsOf(app.schema?.presentation.aggregators ?? [], [
      ...this.available,
      ...Object.keys(this.aggregates),
    ]),
  );
  readonly speech: SpeechTurn[] = $derived(
    this.chunks.flatMap((chunk) => {
      const shown = this.speechOf(chunk);
      if (!shown) return [];
      const turns = allItems(chunk[shown.id], shown, chunk);
      return turns.map(({ start, end, speaker, label }) => ({ start, end, speaker, text: label }));
    }),
  );
  /** Results that no panel shows. */
  readonly otherAggregates: Presentation[] = $derived(
    this.aggregators.filter(({ id, kind, tab }) => kind === "rows" && !tab && id in this.aggregates),
  );
  /** Number of appearances of people who cannot be identified and are therefore not listed. */
  readonly unlinkedPeople: number = $derived(
    this.aggregators
      .filter(({ kind }) => kind === "linked_people")
      .reduce((sum, { id }) => sum + (Number(valueAt(this.aggregates[id], "/unlinked")) || 0), 0),
  );
  readonly spokenTurns: SpeechTurn[] = $derived(this.speech.filter((turn) => turn.text.trim()));
  /** ISO 639-1 code of the speech, if recognised. */
  readonly language = $derived(this.chunks.map((chunk) => this.languageOf(chunk)).find(Boolean));
  readonly speakers: string[] = $derived([...new Set(this.speech.map((turn) => turn.speaker))].sort());
  private readonly numbers = $derived(speakerNumbers(this.speakers, this.corrections));

  constructor(readonly id: string) {}

  async load() {
    this.error = "";
    this.loading = true;
    try {
      this.detail = await api<VideoDetail>(videoPath(this.id));
      void this.loadCuts(this.detail.duration);
      void this.loadPeaks(this.detail.duration);
      await Promise.all([this.loadChunks(), this.loadAggregates(), this.loadCorrections()]);
      void this.loadSentences();
      // The tab of the comments loads them again, and says what fails.
      void this.loadComments().catch(() => {});
    } catch (reason) {
      const gone = reason instanceof ApiError && reason.status === 404;
      this.error = gone ? m.video.gone(this.id) : errorMessage(reason);
    } finally {
      this.loading = false;
    }
  }

  async loadAggregates() {
    const path = videoPath(this.id);
    const { available, aggregates } = await api<{ available: string[]; aggregates: Aggregates }>(
      `${path}/aggregates`,
    );
    this.aggregates = aggregates;
    this.available = available;
    if (!this.aggregators.some(({ kind }) => kind === "linked_people")) return;
    this.linkedPeople = (await api<{ entities: Entity[] }>(`${path}/entities`)).entities;
  }

  private async loadCorrections() {
    const { corrections } = await api<Corrections>(`${videoPath(this.id)}/corrections`);
    this.corrections = corrections;
  }

  /** Loads the comments, or those after `cursor`. */
  async loadComments(cursor = "") {
    const { comments, next } = await listComments(this.id, cursor);
    this.comments = cursor ? [...this.comments, ...comments] : comments;
    this.nextComments = next ?? null;
  }

  /** Saves corrections, and reports `done` or the number of corrected places, with an undo. */
  async correct(made: NewCorrection[], done?: string) {
    const path = `${videoPath(this.id)}/corrections`;
    const response = await api<Corrections>(path, { json: { corrections: made } });
    await this.changed(response);
    const places = response.corrections.reduce((sum, one) => sum + one.places, 0);
    const run = () => void this.undoMade(response.corrections.map(({ id }) => id));
    toast(done ?? m.corrections.done(m.corrections.places(places)), [
      { text: m.corrections.undo, run, undo: true },
    ]);
  }

  /** Undoes one correction, or all. */
  async undo(id = "") {
    const path = `${videoPath(this.id)}/corrections${id && `/${id}`}`;
    await this.changed(await api<Corrections>(path, { method: "DELETE" }));
  }

  /** Undoes corrections, the last one first. */
  private async undoMade(ids: string[]) {
    try {
      for (const id of ids.toReversed()) await this.undo(id);
      toast(m.corrections.undone);
    } catch (reason) {
      toast(errorMessage(reason));
    }
  }

  private async changed({ job_id }: Corrections) {
    if (job_id) this.correctionsJob = job_id;
    await Promise.all([
      this.loadChunks(),
      // Titles of chapters change at once, other aggregates when the job is done.
      this.loadAggregates(),
      this.loadCorrections(),
      this.loadSentences(),
      loadJobs(),
    ]);
  }

  private async loadSentences() {
    if (!this.spokenTurns.length) return;
    try {
      const path = `${videoPath(this.id)}/transcript?words=true`;
      this.sentences = (await api<{ utterances: Sentence[] }>(path)).utterances;
    } catch {
      // The turns are then taken for sentences.
      this.sentences = [];
    }
  }

  private async loadChunks() {
    const page = (offset: number) =>
      api<{ total: number; chunks: Chunk[] }>(`${videoPath(this.id)}/chunks?limit=${PAGE}&offset=${offset}`);
    const first = await page(0);
    this.chunks = first.chunks;
    const offsets = Array.from(
      { length: Math.ceil(first.total / PAGE) - 1 },
      (_, index) => (index + 1) * PAGE,
    );
    if (!offsets.length) return;
    const rest = await Promise.all(offsets.map(page));
    this.chunks = [first, ...rest].flatMap((one) => one.chunks);
  }

  /** Derives the cuts from a split by cuts only, computed from stored signals. */
  private async loadCuts(duration: number) {
    const json = { mode: "weights", cut: 1, min_duration: 0.2, max_duration: Math.max(1, duration) };
    try {
      const { boundaries } = await api<Preview>(`${videoPath(this.id)}/chunking/preview`, { json });
      this.cuts = boundaries.flatMap(({ votes }) =>
        votes
          .filter((vote) => vote.detector === "cut")
          .map((vote) => vote.time)
          .slice(0, 1),
      );
    } catch {
      this.cuts = [];
    }
  }

  /** The audio of a stored video never changes. */
  private async loadPeaks(duration: number) {
    if (this.peaks) return;
    const buckets = Math.min(MAX_PEAKS, Math.max(1, Math.ceil(duration * PEAKS_PER_SECOND)));
    try {
      const found = await api<Peaks>(`${videoPath(this.id)}/peaks?buckets=${buckets}`);
      if (found.peaks.some((peak) => peak >= SILENCE_LEVEL)) this.peaks = found;
    } catch {
      // The timeline then has no sound lane.
    }
  }

  /** The span of the video. */
  get whole(): Span {
    return { start: 0, end: this.detail?.duration ?? 0 };
  }

  /** The speech analyzer that is used for a chunk: the first with an output. */
  speechOf(chunk: Chunk): Presentation | undefined {
    return this.analyzers.find(({ id, kind }) => kind === "speech" && isRecord(chunk[id]));
  }

  private languageOf(chunk: Chunk): string | undefined {
    const shown = this.speechOf(chunk);
    const language = shown && valueAt(chunk[shown.id], "/language");
    return typeof language === "string" ? language : undefined;
  }

  /** The best available text of a chunk. */
  textOf(chunk: Chunk): string {
    return chunkText(chunk, this.analyzers);
  }

  /** The palette index of a speaker. */
  speakerColour(speaker: string): number {
    return (this.numbers.get(speaker) ?? 0) % SPEAKER_COLOURS;
  }

  chunkAt(time: number): number {
    return this.chunks.findLastIndex((chunk) => chunk.start <= time + 0.01);
  }
}
