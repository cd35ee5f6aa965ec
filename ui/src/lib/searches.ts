// Searches that were made and that are kept, in this browser alone; each is a link.
const KEY = "shotlog.searches";
const RECENT = 10;

export type Searches = { recent: string[]; saved: string[] };

export function read(store: Pick<Storage, "getItem"> = localStorage): Searches {
  try {
    const kept = JSON.parse(store.getItem(KEY) ?? "{}") as Partial<Searches>;
    const links = (all: unknown) => (Array.isArray(all) ? all.filter((one) => typeof one === "string") : []);
    return { recent: links(kept.recent), saved: links(kept.saved) };
  } catch {
    return { recent: [], saved: [] };
  }
}

function write(searches: Searches, store: Pick<Storage, "setItem">): Searches {
  try {
    store.setItem(KEY, JSON.stringify(searches));
  } catch {
    /* A browser that keeps nothing has none to show next time. */
  }
  return searches;
}

type Store = Pick<Storage, "getItem" | "setItem">;

/** Puts a search before the others that were made. */
export function made(link: string, store: Store = localStorage): Searches {
  const { recent, saved } = read(store);
  return write({ recent: [link, ...recent.filter((one) => one !== link)].slice(0, RECENT), saved }, store);
}

/** Keeps a search, or lets it go. */
export function keep(link: string, kept: boolean, store: Store = localStorage): Searches {
  const { recent, saved } = read(store);
  const others = saved.filter((one) => one !== link);
  return write({ recent, saved: kept ? [link, ...others] : others }, store);
}

export function forget(store: Store = localStorage): Searches {
  return write({ recent: [], saved: read(store).saved }, store);
}
