// Recent and saved searches as links, stored in this browser.
const STORAGE_KEY = "shotlog.searches";
const MAX_RECENT = 10;

export type Searches = { recent: string[]; saved: string[] };

export function loadSearches(store: Pick<Storage, "getItem"> = localStorage): Searches {
  try {
    const stored = JSON.parse(store.getItem(STORAGE_KEY) ?? "{}") as Partial<Searches>;
    const links = (all: unknown) => (Array.isArray(all) ? all.filter((one) => typeof one === "string") : []);
    return { recent: links(stored.recent), saved: links(stored.saved) };
  } catch {
    return { recent: [], saved: [] };
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
  const { recent, saved } = loadSearches(store);
  return saveSearches(
    { recent: [link, ...recent.filter((one) => one !== link)].slice(0, MAX_RECENT), saved },
    store,
  );
}

/** Saves a search, or removes it. */
export function setSaved(link: string, stored: boolean, store: Store = localStorage): Searches {
  const { recent, saved } = loadSearches(store);
  const others = saved.filter((one) => one !== link);
  return saveSearches({ recent, saved: stored ? [link, ...others] : others }, store);
}

export function clearRecent(store: Store = localStorage): Searches {
  return saveSearches({ recent: [], saved: loadSearches(store).saved }, store);
}
