// User preferences in local storage.

/** Loads a preference, or `none` if it is missing or storage is unavailable. */
export function loadPreference<T>(name: string, none: T): T {
  try {
    const text = localStorage.getItem(`shotlog.${name}`);
    return text === null ? none : (JSON.parse(text) as T);
  } catch {
    return none;
  }
}

export function savePreference(name: string, value: unknown) {
  try {
    localStorage.setItem(`shotlog.${name}`, JSON.stringify(value));
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}
