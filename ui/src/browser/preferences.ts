// User preferences in local storage, and choices that last as long as the browser tab.

const key = (name: string) => `shotlog.${name}`;

/** Storage may be unavailable, in which case reading the property fails. */
function load<T>(storage: () => Storage, name: string, none: T): T {
  try {
    const text = storage().getItem(key(name));
    return text === null ? none : (JSON.parse(text) as T);
  } catch {
    return none;
  }
}

function save(storage: () => Storage, name: string, value: unknown) {
  try {
    storage().setItem(key(name), JSON.stringify(value));
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}

/** Loads a preference, or `none` if it is missing or storage is unavailable. */
export const loadPreference = <T>(name: string, none: T): T => load(() => localStorage, name, none);
export const savePreference = (name: string, value: unknown) => save(() => localStorage, name, value);

/** Loads a choice of this tab, or `none` if it is missing or storage is unavailable. */
export const loadSessionChoice = <T>(name: string, none: T): T => load(() => sessionStorage, name, none);
export const saveSessionChoice = (name: string, value: unknown) => save(() => sessionStorage, name, value);
