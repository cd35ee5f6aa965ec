// The pages by their name in the address. Only the library is in the main script: the requested page is
// loaded first and the others in the background, so that navigation is instant.
import type { Component } from "svelte";
import { isPage, type Page } from "../state/address.svelte";
import { errorMessage } from "../api/failure";
import Library from "./pages/Library.svelte";

/** `id` is the id of the video or bin, the name of the person, or empty; other pages ignore it. */
type PageComponent = Component<{ id: string }>;

const others = (page: Exclude<keyof typeof import("./pages/others"), "ShareDialog">) => async () => ({
  default: (await import("./pages/others"))[page] as unknown,
});
const FILES: Record<Exclude<Page, "">, () => Promise<{ default: unknown }>> = {
  videos: () => import("./pages/Video.svelte"),
  search: async () => ({ default: (await import("./pages/finding")).search }),
  ask: async () => ({ default: (await import("./pages/finding")).ask }),
  jobs: others("jobs"),
  alerts: others("alerts"),
  bins: () => import("./pages/Bins.svelte"),
  compare: others("compare"),
  activity: others("activity"),
  persons: others("persons"),
  shares: others("shares"),
  settings: () => import("./pages/Settings.svelte"),
};

let loaded = $state.raw<Partial<Record<Page, PageComponent>>>({ "": Library as unknown as PageComponent });
let error = $state("");

/** The loaded pages, and the error of a page that failed to load. */
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
  const { default: component } = await FILES[page]();
  loaded = { ...loaded, [page]: component as PageComponent };
}

/** Loads the requested page. */
export function open(page: string) {
  error = "";
  if (isPage(page)) load(page).catch((reason: unknown) => (error = errorMessage(reason)));
}

/** Preloads the other pages; a failed one is retried on navigation. */
export async function loadOthers() {
  for (const page of Object.keys(FILES).filter(isPage)) await load(page).catch(() => {});
}
