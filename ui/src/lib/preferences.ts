// What this browser remembers of the reader's choices.

/** What was kept under a name, or `none`; a browser may refuse to keep anything. */
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
    // The choice then holds for this page alone.
  }
}
