// The sizes of the video page's panes, in percent, which are remembered.
import { loadPreference, savePreference } from "../../browser/preferences";
import { clampShare, type Limits } from "./split";

type Pane = Limits & { initial: number };

/** `picture` and `speech` are shares of the height, `left` is a share of the width. */
export const PANES = {
  left: { initial: 55, min: 30, max: 75 },
  picture: { initial: 56, min: 25, max: 80 },
  speech: { initial: 60, min: 20, max: 85 },
} satisfies Record<string, Pane>;
export type PaneName = keyof typeof PANES;
type Sizes = Record<PaneName, number>;

const names = Object.keys(PANES) as PaneName[];

/** The sizes that are saved; an invalid or missing one is the initial size. */
export function readSizes(saved: Partial<Record<PaneName, unknown>>): Sizes {
  const size = (name: PaneName) => {
    const value = saved[name];
    return typeof value === "number" && Number.isFinite(value)
      ? clampShare(value, PANES[name])
      : PANES[name].initial;
  };
  return Object.fromEntries(names.map((name) => [name, size(name)])) as Sizes;
}

export class PaneSizes {
  private sizes = $state<Sizes>(readSizes(loadPreference("panes", {})));

  get(name: PaneName): number {
    return this.sizes[name];
  }

  set(name: PaneName, share: number) {
    this.sizes[name] = Math.round(share * 10) / 10;
    savePreference("panes", this.sizes);
  }
}
