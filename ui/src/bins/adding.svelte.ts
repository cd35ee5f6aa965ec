// Adds moments to the bin that was used last, or to one that the user picks. The last bin is remembered, so
// that each further moment takes one click.
import { loadPreference, savePreference } from "../browser/preferences";
import { errorMessage } from "../api/failure";
import { m } from "../i18n/language.svelte";
import { link } from "../state/address.svelte";
import { toast, type ToastAction } from "../state/app.svelte";
import type { Bin } from "../api/types";
import { addSelects, isConflict, isGone, removeSelects, undoChange, type NewSelect } from "./api";

type LastBin = { id: string; name: string };

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

/** A bin that is deleted is no longer offered. */
export function forgetBin(id: string) {
  if (adding.last?.id === id) remember(null);
}

/** A bin that is renamed is offered with its new name. */
export function renameBin({ bin_id: id, name }: Bin) {
  if (adding.last?.id === id && adding.last.name !== name) remember({ id, name });
}

/** Adds to the last bin, or opens the picker if there is none. Returns whether it added them. */
export async function addMoments(selects: NewSelect[]): Promise<boolean> {
  const { last } = adding;
  if (!last) openPicker(selects);
  else {
    try {
      await addTo(last, selects);
      return true;
    } catch (reason) {
      if (isGone(reason)) {
        remember(null);
        toast(m.addToBin.gone(last.name));
        openPicker(selects);
      } else toast(errorMessage(reason), [otherBin(selects)]);
    }
  }
  return false;
}

/** Adds to a bin and reports it, with an undo. */
export async function addTo({ id, name }: LastBin, selects: NewSelect[]) {
  const { bin, selects: added } = await addSelects(id, selects);
  remember({ id, name: bin.name || name });
  const ids = added.map(({ select_id }) => select_id);
  const undo = () => undoAdding(bin, ids);
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

/** If the bin has changed since, only the added selects are removed. */
async function undoAdding(bin: Bin, ids: string[]): Promise<boolean> {
  try {
    await undoChange(bin.bin_id, bin.version).catch((reason: unknown) => {
      if (!isConflict(reason)) throw reason;
      return removeSelects(bin.bin_id, ids);
    });
    toast(m.addToBin.undone(bin.name));
    return true;
  } catch (reason) {
    toast(errorMessage(reason));
    return false;
  }
}
