// The pages by the name that they have in the address. Only the library comes with the page's own script:
// the one that is gone to is loaded first, the others behind it, so that going to one takes no wait.
import type { Component } from "svelte";
import { isPage, type Page } from "../lib/address.svelte";
import { errorMessage } from "../lib/state.svelte";
import Library from "./Library.svelte";

/** `id` is that of the video; pages that are not about one do not look at it. */
type Shown = Component<{ id: string }>;

const FILES: Record<Exclude<Page, "">, () => Promise<{ default: unknown }>> = {
  videos: () => import("./Video.svelte"),
  search: () => import("./Search.svelte"),
  ask: () => import("./Ask.svelte"),
  jobs: () => import("./Jobs.svelte"),
  alerts: () => import("./Alerts.svelte"),
  compare: () => import("./Compare.svelte"),
  settings: () => import("./Settings.svelte"),
};

let loaded = $state.raw<Partial<Record<Page, Shown>>>({ "": Library as unknown as Shown });
let error = $state("");

/** What is there by now, and why what was gone to is not. */
export const pages = {
  get loaded() {
    return loaded;
  },
  get error() {
    return error;
  },
};

async function load(page: Page) {
  if (page === "" || loaded[page]) return;
  const { default: shown } = await FILES[page]();
  loaded = { ...loaded, [page]: shown as Shown };
}

/** Loads the page that is gone to. */
export function open(page: string) {
  error = "";
  if (isPage(page)) load(page).catch((reason: unknown) => (error = errorMessage(reason)));
}

/** Loads the pages that may be gone to; one that fails is tried again when it is. */
export async function loadOthers() {
  for (const page of Object.keys(FILES).filter(isPage)) await load(page).catch(() => {});
}
