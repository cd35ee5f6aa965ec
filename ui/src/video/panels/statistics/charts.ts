// The numbers of charts, read from results by the schema's description of each chart.
import { listAt, plainText, valueAt } from "../../../api/outputs";
import type { Aggregates, ChartSpec, Fields, Presentation } from "../../../api/types";

export type ChartOf = { id: string; chart: ChartSpec; result: unknown; note: string };

/** The order of the charts; charts of one form are in the order of the schema. */
const FORMS = ["speaking_time", "line", "steps", "bars", "tags"];
/** Over time, whether in steps or not. */
const OVER_TIME = ["line", "steps"];
const MAX_BARS = 12;
const MAX_TAGS = 40;

/** The charts that have numbers. */
export function chartsOf(shown: Presentation[], aggregates: Aggregates): ChartOf[] {
  const rank = ({ form }: ChartSpec) => FORMS.indexOf(OVER_TIME.includes(form) ? "line" : form);
  return shown
    .flatMap(({ id, charts }) => {
      const result = aggregates[id];
      const note = plainText(valueAt(result, "/note"));
      return charts.map((chart) => ({ id, chart, result, note }));
    })
    .filter(({ chart, result }) => FORMS.includes(chart.form) && listAt(result, chart.items).length)
    .toSorted((a, b) => rank(a.chart) - rank(b.chart));
}

const numberIn = (item: unknown, field?: string | null) => (field ? Number((item as Fields)[field]) || 0 : 0);
const textIn = (item: unknown, field?: string | null) => (field ? plainText((item as Fields)[field]) : "");

/** The share and the seconds of each speaker, and the totals. */
export function speakingTime(chart: ChartSpec, result: unknown) {
  const rows = listAt(result, chart.items).map((item) => ({
    name: textIn(item, chart.label),
    part: numberIn(item, chart.value),
    seconds: numberIn(item, "seconds"),
  }));
  return {
    rows,
    handovers: numberIn(result, "handovers"),
    seconds: numberIn(result, "total_speech_seconds"),
  };
}

/** The first bars, each with its part of the highest. */
export function bars(chart: ChartSpec, result: unknown) {
  const all = listAt(result, chart.items).map((item) => ({
    name: textIn(item, chart.label),
    value: numberIn(item, chart.value),
  }));
  const highest = Math.max(...all.map(({ value }) => value), 1e-9);
  return all.slice(0, MAX_BARS).map((one) => ({ ...one, part: one.value / highest }));
}

/** The first names with their counts. */
export const tags = (chart: ChartSpec, result: unknown) =>
  listAt(result, chart.items)
    .slice(0, MAX_TAGS)
    .map((item) => ({
      name: textIn(item, chart.label),
      category: textIn(item, chart.category),
      count: numberIn(item, chart.value),
    }));

/** Values over time: at the starts for steps, else in the middle of each item. */
export function timeline(chart: ChartSpec, result: unknown) {
  const points = listAt(result, chart.items)
    .map((item) => {
      const [start, end] = [numberIn(item, "start"), numberIn(item, "end")];
      return {
        t: chart.form === "steps" ? start : (start + end) / 2,
        value: numberIn(item, chart.value) - numberIn(item, chart.minus),
      };
    })
    .toSorted((a, b) => a.t - b.t);
  const highest = Math.max(chart.high, ...points.map(({ value }) => value));
  // An axis below 0 is symmetric; the others have some space at the top.
  return { points, high: chart.low < 0 ? highest : highest * 1.05 };
}
