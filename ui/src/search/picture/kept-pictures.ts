// Pictures from files that this tab keeps, so that a reload and the browser's history can search for them
// again.
const STORAGE_KEY = "shotlog.picture.";
/** Number of pictures that are kept; the oldest are dropped. */
const MAX_PICTURES = 6;

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** The pictures of this tab, as data URLs; used alone if the browser does not store them. */
const memory = new Map<string, string>();
let kept = 0;

function storedNames(store: Store): string[] {
  const keys = Array.from({ length: store.length }, (_, place) => store.key(place) ?? "");
  return keys
    .filter((key) => key.startsWith(STORAGE_KEY))
    .map((key) => key.slice(STORAGE_KEY.length))
    .sort();
}

/** Keeps a picture, given as a data URL, and returns its name in the address. */
export function keepPicture(url: string, store: Store = sessionStorage): string {
  // Names sort by age.
  const name = `p_${Date.now().toString(36)}_${String((kept += 1)).padStart(3, "0")}`;
  memory.set(name, url);
  const [oldest = ""] = memory.keys();
  if (memory.size > MAX_PICTURES) memory.delete(oldest);
  try {
    const names = storedNames(store);
    for (const old of names.slice(0, Math.max(0, names.length + 1 - MAX_PICTURES))) {
      store.removeItem(STORAGE_KEY + old);
    }
    store.setItem(STORAGE_KEY + name, url);
  } catch {
    /* Without storage, pictures do not survive the page. */
  }
  return name;
}

/** The picture as a data URL; null if it is no longer kept. */
export function keptPicture(name: string, store: Store = sessionStorage): string | null {
  const inMemory = memory.get(name);
  if (inMemory !== undefined) return inMemory;
  try {
    return store.getItem(STORAGE_KEY + name);
  } catch {
    return null;
  }
}
