/** Display names by the service's id; ids without an entry are shown as the service writes them. */
export type Names = Record<string, string>;
