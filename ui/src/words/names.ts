// Names of what the service has a word of its own for, by that word.

/** Where there is none, the service's word stands. */
export type Names = Record<string, string>;
