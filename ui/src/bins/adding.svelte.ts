// Adds moments to the bin that was used last, or to one that the user picks. The last bin is remembered, so
// that each further moment takes one click.
import { SvelteMap } from "svelte/reactivity";
import { loadPreference, savePreference } from "../browser/preferences";
import { errorMessage } from "../api/failure";
import { m } from "../i18n/language.svelte";
import { link } from "../state/address.svelte";
import { toast, type ToastAction } from "../state/app.svelte";
import type { Bin } from "../api/types";
import { addSelects, isConflict, isGone, removeSelects, undoChange, type NewSelect } from "./api";

type LastBin = { id: string; name: string };
/** The selects that were made of some moments. */
type Added = { bin: Bin; ids: string[] };

/** `selects` wait for the user to pick a bin; null while the picker is closed. */
export const adding = $state<{ selects: NewSelect[] | null; last: LastBin | null }>({
  selects: null,
  last: loadPreference<LastBin | null>("bin", null),
});

export const openPicker = (selects: NewSelect[]) => (adding.selects = selects);
export const closePicker = () => (adding.selects = null);

function remember(last: LastBin | null) {
  adding.last = last;
  savePreference("bin", last);
}

/** What was added and not removed again, by its moments. */
const added = new SvelteMap<string, Added>();
const keyOf = (selects: NewSelect[]) => JSON.stringify(selects);
export const addedFrom = (selects: NewSelect[]) => added.get(keyOf(selects));

/** In an open bin, the user may remove what was added to it. */
function forgetAdded(id: string) {
  for (const [key, { bin }] of added) if (bin.bin_id === id) added.delete(key);
}

/** A bin that is opened is used next. */
export function rememberBin({ bin_id: id, name }: Bin) {
  remember({ id, name });
  forgetAdded(id);
}

/** A bin that is deleted is no longer offered. */
export function forgetBin(id: string) {
  if (adding.last?.id === id) remember(null);
  forgetAdded(id);
}

/** A bin that is renamed is offered with its new name. */
export function renameBin({ bin_id: id, name }: Bin) {
  if (adding.last?.id === id && adding.last.name !== name) remember({ id, name });
}

/** Adds to the last bin, or opens the picker if there is none. */
export async function addMoments(selects: NewSelect[]) {
  const { last } = adding;
  if (!last) return void openPicker(selects);
  try {
    await addTo(last, selects);
  } catch (reason) {
    if (isGone(reason)) {
      forgetBin(last.id);
      toast(m.addToBin.gone(last.name));
      openPicker(selects);
    } else toast(errorMessage(reason), [otherBin(selects)]);
  }
}

/** Adds to a bin and reports it, with an undo. */
export async function addTo({ id, name }: LastBin, selects: NewSelect[]) {
  const { bin, selects: made } = await addSelects(id, selects);
  remember({ id, name: bin.name || name });
  const ids = made.map(({ select_id }) => select_id);
  const key = keyOf(selects);
  added.set(key, { bin, ids });
  const undo = () => undoAdding(key, bin, ids);
  toast(m.addToBin.added(bin.name), [
    { text: m.addToBin.open, href: link("bins", {}, id) },
    { text: m.addToBin.undo, run: () => void undo(), undo: true },
    { ...otherBin(selects), run: () => void undo().then((undone) => undone && openPicker(selects)) },
  ]);
}

const otherBin = (selects: NewSelect[]): ToastAction => ({
  text: m.addToBin.other,
  run: () => openPicker(selects),
});

/** Removes what was added from some moments and reports it, with an undo. */
export async function removeAdded(selects: NewSelect[]) {
  const key = keyOf(selects);
  const last = added.get(key);
  if (!last) return;
  added.delete(key);
  const { bin, ids } = last;
  const text = m.addToBin.undone(bin.name);
  try {
    const { version } = await removeSelects(bin.bin_id, ids);
    const undo = () =>
      undoChange(bin.bin_id, version).then(
        () => void added.set(key, last),
        (reason: unknown) => void toast(errorMessage(reason)),
      );
    toast(text, [{ text: m.addToBin.undo, run: () => void undo(), undo: true }]);
  } catch (reason) {
    // It may have been removed elsewhere.
    if (isGone(reason)) toast(text);
    else {
      added.set(key, last);
      toast(errorMessage(reason));
    }
  }
}

/** If the bin has changed since, only the added selects are removed. */
async function undoAdding(key: string, bin: Bin, ids: string[]): Promise<boolean> {
  try {
    await undoChange(bin.bin_id, bin.version).catch((reason: unknown) => {
      if (!isConflict(reason)) throw reason;
      return removeSelects(bin.bin_id, ids);
    });
    added.delete(key);
    toast(m.addToBin.undone(bin.name));
    return true;
  } catch (reason) {
    toast(errorMessage(reason));
    return false;
  }
}
