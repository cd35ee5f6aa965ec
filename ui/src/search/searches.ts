// Recent and saved searches as links, stored in this browser.
const STORAGE_KEY = "shotlog.searches";
const MAX_RECENT = 10;

export type Searches = {
  recent: string[];
  saved: string[];
  /** The names of saved searches by link. */
  names: Record<string, string>;
};

export function loadSearches(store: Pick<Storage, "getItem"> = localStorage): Searches {
  try {
    const stored = JSON.parse(store.getItem(STORAGE_KEY) ?? "{}") as Partial<Searches>;
    const links = (all: unknown) => (Array.isArray(all) ? all.filter((one) => typeof one === "string") : []);
    const names = Object.entries(stored.names ?? {}).filter(([, name]) => typeof name === "string");
    return { recent: links(stored.recent), saved: links(stored.saved), names: Object.fromEntries(names) };
  } catch {
    return { recent: [], saved: [], names: {} };
  }
}

function saveSearches(searches: Searches, store: Pick<Storage, "setItem">): Searches {
  try {
    store.setItem(STORAGE_KEY, JSON.stringify(searches));
  } catch {
    /* Without storage, searches do not survive the page. */
  }
  return searches;
}

type Store = Pick<Storage, "getItem" | "setItem">;

/** Adds a search to the front of the recent ones. */
export function addRecent(link: string, store: Store = localStorage): Searches {
  const searches = loadSearches(store);
  const recent = [link, ...searches.recent.filter((one) => one !== link)].slice(0, MAX_RECENT);
  return saveSearches({ ...searches, recent }, store);
}

/** Saves a search under a name. */
export function saveSearch(link: string, name: string, store: Store = localStorage): Searches {
  const { recent, saved, names } = removeSaved(link, store);
  return saveSearches({ recent, saved: [link, ...saved], names: { ...names, [link]: name } }, store);
}

export function removeSaved(link: string, store: Store = localStorage): Searches {
  const searches = loadSearches(store);
  const { [link]: _, ...names } = searches.names;
  return saveSearches({ ...searches, saved: searches.saved.filter((one) => one !== link), names }, store);
}

export function clearRecent(store: Store = localStorage): Searches {
  return saveSearches({ ...loadSearches(store), recent: [] }, store);
}
