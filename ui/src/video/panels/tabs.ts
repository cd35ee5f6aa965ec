// The tabs of a video's results, built from its log.
import { translate } from "../../i18n/format";
import { m } from "../../i18n/language.svelte";
import { isRecord, listAt, outputText } from "../../api/outputs";
import { emptyTab } from "../../state/address.svelte";
import { app, isAudioOnly } from "../../state/app.svelte";
import type { Presentation } from "../../api/types";
import type { VideoLog } from "../log/log.svelte";

/** `panel` selects the component; `shown` are the analyzers or aggregators in it. `id` is in addresses. */
export type ResultTab = { id: string; name: string; panel: string; shown: Presentation[] };

/** Kinds of outputs with a panel that fits them; the others are shown as rows. */
const OWN_PANEL = [
  "speech",
  "prose",
  "sections",
  "occurrences",
  "linked_people",
  "tracked_objects",
  "charts",
];
const hasOwnPanel = ({ kind }: Presentation) => OWN_PANEL.includes(kind);

/** The tabs that have something to show. */
export function resultTabs(log: VideoLog): ResultTab[] {
  const page = (id: keyof typeof m.video.tabs, there: unknown, shown: Presentation[] = []): ResultTab[] =>
    there ? [{ id, name: m.video.tabs[id], panel: id, shown }] : [];
  const fitting = [...log.analyzers, ...log.aggregators].filter(
    (shown) => hasOwnPanel(shown) && hasContent(log, shown),
  );
  const outputs = log.analyzers.filter(
    (shown) => !hasOwnPanel(shown) && (shown.tab || ["rows", "screen_text"].includes(shown.kind)),
  );
  const results = log.aggregators.filter((shown) => !hasOwnPanel(shown));
  const tabs = [
    ...page("moments", true),
    ...groupByTab(fitting, ({ kind }) => kind),
    ...groupByTab(
      results.filter(({ tab }) => tab),
      () => "more",
    ),
    ...groupByTab(outputs, ({ kind }) => (kind === "screen_text" ? "lines" : "outputs")),
    ...page("more", log.otherAggregates.length, log.otherAggregates),
    ...page("corrections", log.corrections.length),
    ...page("splitting", log.cuts.length),
    ...page("comments", true),
  ];
  const isNew = ({ name }: ResultTab) => !tabs.some((tab) => tab.name === name);
  return withUniqueIds([...tabs, ...emptyTabs(log).filter(isNew)]);
}

/** Kinds of analyzers with a tab even if they have found nothing or have not run. */
const ALWAYS = ["speech", "people_in_view", "objects", "screen_text"];

/** The tabs that say why there is nothing of a kind. */
function emptyTabs({ detail, loading, analyzers }: VideoLog): ResultTab[] {
  if (!detail || loading) return [];
  const kinds = isAudioOnly(detail) ? ALWAYS.slice(0, 1) : ALWAYS;
  const missing = kinds.filter((kind) => !analyzers.some((one) => one.kind === kind));
  return missing.flatMap((kind) => {
    // The last one is the simplest of its kind.
    const shown = app.schema?.presentation.analyzers.findLast((one) => one.kind === kind);
    const panel = kind === "speech" ? "unheard" : "unseen";
    return shown ? [{ id: emptyTab(shown.id), name: translate(shown.label), panel, shown: [shown] }] : [];
  });
}

/** Tabs under one name; a group of one tab has the name of the tab. */
export type ResultGroup = { id: string; name: string; tabs: ResultTab[] };

/** The groups in order, with the panels of each. */
const GROUPS: Record<keyof typeof m.video.groups, string[]> = {
  moments: ["moments"],
  overview: ["prose", "sections", "unheard"],
  seen: ["occurrences", "linked_people", "tracked_objects", "lines", "unseen"],
  data: ["charts", "outputs", "more", "corrections", "splitting"],
  comments: ["comments"],
};

/** The tabs of speech: the transcript has its own pane. */
export const speechTabs = (tabs: ResultTab[]) => tabs.filter(({ panel }) => panel === "speech");

/** The other tabs in groups. */
export function resultGroups(tabs: ResultTab[]): ResultGroup[] {
  return Object.entries(GROUPS)
    .map(([id, panels]) => ({ id, tabs: tabs.filter(({ panel }) => panels.includes(panel)) }))
    .filter((group) => group.tabs.length)
    .map((group) => ({
      ...group,
      name: group.tabs.length === 1 ? group.tabs[0].name : m.video.groups[group.id as keyof typeof GROUPS],
    }));
}

/** Tabs with different panels may have the same id; the first keeps it. */
function withUniqueIds(tabs: ResultTab[]): ResultTab[] {
  const used = new Set<string>();
  return tabs.map((tab) => {
    const id = used.has(tab.id) ? `${tab.id}-${tab.panel}` : tab.id;
    used.add(id);
    return { ...tab, id };
  });
}

/** One tab per id and panel, in the order of the presentations; those without a tab have one each. */
function groupByTab(all: Presentation[], panel: (shown: Presentation) => string): ResultTab[] {
  const tabs = new Map<string, ResultTab>();
  for (const shown of all) {
    const { id, label } = shown.tab ?? { id: `output-${shown.id}`, label: shown.label };
    const key = `${id} ${panel(shown)}`;
    const tab = tabs.get(key) ?? { id, name: translate(label), panel: panel(shown), shown: [] };
    tabs.set(key, { ...tab, shown: [...tab.shown, shown] });
  }
  return [...tabs.values()];
}

/** Whether there is anything for a panel that fits the kind. */
function hasContent(log: VideoLog, shown: Presentation): boolean {
  const result = log.aggregates[shown.id];
  if (shown.kind === "speech") return log.spokenTurns.length > 0;
  if (shown.kind === "linked_people") return log.linkedPeople.length + log.unlinkedPeople > 0;
  if (shown.kind === "prose") return outputText(result, shown) !== "";
  if (shown.kind === "charts") return isRecord(result);
  return shown.tracks.some(({ items }) => listAt(result, items).length);
}
