// Labels of analyzers and aggregators, which the service defines.
let labels = $state.raw(new Map<string, string>());

export function setServiceLabels(all: { id: string; label: string }[]) {
  labels = new Map(all.map(({ id, label }) => [id, label]));
}

/** The English label of an analyzer or aggregator, if the service has it. */
export const serviceLabel = (id: string): string | undefined => labels.get(id);
