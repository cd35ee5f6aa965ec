// One bin: its selects, loaded by page, and changes to it. Changes run one after another, each with the
// version that it is based on.
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { errorMessage } from "../api/failure";
import { m } from "../i18n/language.svelte";
import { toast } from "../state/app.svelte";
import type { Bin, BinChanged, Select, SelectUpdate } from "../api/types";
import { rememberBin, renameBin } from "./adding.svelte";
import {
  getBin,
  isConflict,
  isGone,
  listSelects,
  moveSelects,
  removeSelects,
  renameTag,
  splitSelect,
  undoChange,
  updateBin,
  updateSelect,
  type BinDetails,
} from "./api";
import { setBinName } from "./names.svelte";
import {
  countTags,
  inOrder,
  isFiltered,
  matching,
  NO_FILTER,
  parseTags,
  withMoved,
  withRenamedTag,
  type SelectFilter,
  type Slot,
} from "./selects/selects";

const PAGE = 100;
/** Size of the pages if all selects are loaded; the service's maximum. */
const LARGE_PAGE = 500;

/** A text of a select that is edited in place. */
export type TextField = "note" | "tags";
export const textOf = (select: Select, field: TextField) =>
  field === "note" ? select.note : select.tags.join(", ");
export const draftKey = (field: TextField, select: string) => `${field} ${select}`;

export class OpenBin {
  bin = $state.raw<Bin | null>(null);
  /** All selects in order; those that are not loaded are undefined. */
  slots = $state.raw<Slot[]>([]);
  error = $state("");
  gone = $state(false);
  /** Whether the last change was refused because of another client's change. */
  conflict = $state(false);
  chosen = new SvelteSet<string>();
  /** Ids of the selects whose tools are open. */
  expanded = new SvelteSet<string>();
  /** Texts that are typed but not saved, by field and select. They outlive the rows that show them. */
  drafts = new SvelteMap<string, string>();
  /** Keys of the drafts that were refused. */
  refused = new SvelteSet<string>();

  /** Closes the toast that offers to undo the last change. */
  closeToast = () => {};

  private filters = $state.raw<SelectFilter>(NO_FILTER);

  readonly loaded: number = $derived(this.slots.filter(Boolean).length);
  /** The selects that the filter shows, in order. */
  readonly shown: Slot[] = $derived(matching(this.slots, this.filters));
  /** Ids of the chosen selects that are shown, in the order of the bin. */
  readonly picked: string[] = $derived(inOrder(this.shown, this.chosen));
  /** The tags of the loaded selects with their numbers of selects, the most frequent ones first. */
  readonly tagCounts: [tag: string, selects: number][] = $derived(countTags(this.slots));
  readonly tags: string[] = $derived(this.tagCounts.map(([tag]) => tag));
  private queue: Promise<unknown> = Promise.resolve();
  private loading = new Set<number>();
  /** Counts reloads; pages of an earlier one are dropped. */
  private turn = 0;

  constructor(readonly id: string) {}

  async load() {
    const turn = ++this.turn;
    this.error = "";
    this.closeToast();
    try {
      const [bin, first] = await Promise.all([getBin(this.id), listSelects(this.id, 0, PAGE)]);
      if (turn !== this.turn) return;
      const rest = Array.from<undefined>({ length: first.total - first.selects.length });
      this.slots = [...first.selects, ...rest];
      this.setBin({ ...bin, version: first.version });
      rememberBin(bin);
    } catch (reason) {
      if (turn !== this.turn) return;
      this.gone = isGone(reason);
      this.error = errorMessage(reason);
    }
  }

  /** Loads the page that contains a select. */
  request(index: number) {
    const page = Math.floor(index / PAGE);
    if (this.loading.has(page) || this.slots[index]) return;
    this.loading.add(page);
    this.loadPage(page * PAGE, PAGE)
      .catch((reason: unknown) => (this.error = errorMessage(reason)))
      .finally(() => this.loading.delete(page));
  }

  get filter(): SelectFilter {
    return this.filters;
  }
  /** Shows only some selects, which are found among all. */
  set filter(filter: SelectFilter) {
    this.filters = filter;
    if (isFiltered(filter)) void this.loadAll();
  }

  /** Loads all selects. */
  loadAll = () => this.loadUpTo(Infinity);

  /** Loads the selects that are missing among the first `count`. */
  private async loadUpTo(count: number) {
    const missing = () => this.slots.slice(0, count).indexOf(undefined);
    try {
      for (let at = missing(); at >= 0; at = missing()) {
        const before = this.loaded;
        await this.loadPage(at, LARGE_PAGE);
        // Another client may have removed them.
        if (this.loaded === before) return;
      }
    } catch (reason) {
      this.error = errorMessage(reason);
    }
  }

  private async loadPage(offset: number, limit: number) {
    const { turn } = this;
    const { version, selects } = await listSelects(this.id, offset, limit);
    if (turn !== this.turn) return;
    // The pages of two versions do not fit together.
    if (version !== this.bin?.version) await this.reload();
    else this.put(offset, selects);
  }

  /** Loads the bin and all loaded selects again. */
  private async reload() {
    const depth = this.slots.findLastIndex(Boolean) + 1;
    await this.load();
    await this.loadUpTo(depth);
    const ids = new Set(this.slots.map((slot) => slot?.select_id));
    for (const id of this.chosen) if (!ids.has(id)) this.chosen.delete(id);
  }

  private put(offset: number, selects: Select[]) {
    const slots = [...this.slots];
    slots.splice(offset, selects.length, ...selects);
    this.slots = slots;
  }

  private setBin(bin: Bin) {
    this.bin = bin;
    setBinName(bin.bin_id, bin.name);
    renameBin(bin);
  }

  /**
   * Runs a change after those before it. `apply` updates the selects; if another client has changed the bin
   * too, they are loaded again. Returns whether the change was made.
   */
  private change<T extends Bin | BinChanged>(
    act: (version: number) => Promise<T>,
    apply: (result: T) => void,
  ): Promise<boolean> {
    const run = async () => {
      if (!this.bin) return false;
      const { version } = this.bin;
      this.closeToast();
      this.error = "";
      this.conflict = false;
      try {
        const result = await act(version);
        const bin = "bin" in result ? result.bin : (result as Bin);
        apply(result);
        this.setBin(bin);
        if (bin.version !== version + 1) await this.reload();
        return true;
      } catch (reason) {
        if (isConflict(reason)) {
          await this.reload();
          this.conflict = true;
        } else this.error = errorMessage(reason);
        return false;
      }
    };
    const done = this.queue.then(run, run);
    this.queue = done;
    return done;
  }

  describe(details: BinDetails) {
    return this.change(
      (version) => updateBin(this.id, details, version),
      () => {},
    );
  }

  edit(select: string, update: SelectUpdate) {
    return this.change(
      (version) => updateSelect(this.id, select, update, version),
      ({ selects }) => this.replace(selects),
    );
  }

  /** Renames a tag in all selects, or removes it if the text is empty. The new one may exist already. */
  async renameTag(from: string, text: string) {
    const [to = ""] = parseTags(text);
    const count = this.tagCounts.find(([tag]) => tag === from)?.[1] ?? 0;
    const renamed = await this.change(
      (version) => renameTag(this.id, from, to || null, version),
      () =>
        (this.slots = this.slots.map(
          (slot) => slot && { ...slot, tags: withRenamedTag(slot.tags, from, to) },
        )),
    );
    if (!renamed) return;
    const { rating } = this.filter;
    this.filter = { rating, tag: to };
    const undo = async () => {
      if (await this.undo()) this.filter = { rating, tag: from };
    };
    this.closeToast = toast(m.bin.tagRenamed(from, to, m.bins.selects(count)), [
      { text: m.bin.undo, run: () => void undo(), undo: true },
    ]);
  }

  /** Saves a text field of a select. A text that is refused stays as typed. */
  async saveText(select: Select, field: TextField, text: string) {
    const key = draftKey(field, select.select_id);
    if (text === textOf(select, field)) return this.dropDraft(key);
    this.drafts.set(key, text);
    const update = field === "note" ? { note: text } : { tags: parseTags(text) };
    if (!(await this.edit(select.select_id, update))) this.refused.add(key);
    // The text may have been edited in the meantime.
    else if (this.drafts.get(key) === text) this.dropDraft(key);
  }

  dropDraft(key: string) {
    this.drafts.delete(key);
    this.refused.delete(key);
  }

  split(select: string, at: number) {
    return this.change(
      (version) => splitSelect(this.id, select, at, version),
      ({ selects }) => {
        const index = this.slots.findIndex((slot) => slot?.select_id === select);
        if (index >= 0) this.slots = this.slots.toSpliced(index, 1, ...selects);
      },
    );
  }

  /** Moves selects before another one, or to the end. */
  move(selects: string[], before: string | null) {
    return this.change(
      (version) => moveSelects(this.id, selects, before, version),
      () => (this.slots = withMoved(this.slots, selects, before)),
    );
  }

  remove(selects: string[]) {
    return this.change(
      (version) => removeSelects(this.id, selects, version),
      () => {
        const removed = new Set(selects);
        this.slots = this.slots.filter((slot) => !slot || !removed.has(slot.select_id));
        for (const id of selects) this.chosen.delete(id);
      },
    );
  }

  /** Undoes the last change. */
  async undo() {
    const undone = await this.change(
      (version) => undoChange(this.id, version),
      () => {},
    );
    if (undone) await this.reload();
    return undone;
  }

  private replace(selects: Select[]) {
    const byId = new Map(selects.map((select) => [select.select_id, select]));
    this.slots = this.slots.map((slot) => (slot && byId.get(slot.select_id)) ?? slot);
  }
}
