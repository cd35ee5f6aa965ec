// Names of bins by id, for filters.
import { getBin } from "./api";

const names = $state<Record<string, string>>({});
const requested = new Set<string>();

/** Sets the name of a bin that has been loaded. */
export function setBinName(id: string, name: string) {
  names[id] = name;
}

/** The name of a bin, or its id until the name is loaded. */
export function binName(id: string): string {
  if (names[id] === undefined && !requested.has(id)) {
    requested.add(id);
    getBin(id).then(
      ({ name }) => setBinName(id, name),
      () => {},
    );
  }
  return names[id] ?? id;
}
