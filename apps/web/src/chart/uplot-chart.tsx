import { useEffect, useRef } from "react";
import Uplot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useLive } from "../live/live-value.ts";
import { theme } from "../state/theme.ts";
import { COLOURS } from "./chart-colours.ts";

export interface UplotChartProps {
  /** The kind of the labels: "Day", "Request". */
  xLabel: string;
  labels: readonly string[];
  /** A missing value is a gap, not a zero. */
  series: readonly { name: string; values: readonly (number | null)[] }[];
  /** `bars` of several series stand beside each other: only parts of a whole may be stacked. */
  kind: "stacked-bars" | "bars" | "line" | "points";
  height: number;
  format: (value: number) => string;
  /** A horizontal limit, such as the size of the context window. */
  max?: number | undefined;
}

/** Draws with uPlot on a canvas. The figures are also available as a table, so the canvas is hidden from readers. */
export default function UplotChart({ labels, series, kind, height, format, max }: UplotChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const shownTheme = useLive(theme);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const draw = (): Uplot => {
      const style = getComputedStyle(element);
      const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim() || style.color;
      const xs = labels.map((_, index) => index);
      const stacked = kind === "stacked-bars";
      // The tallest sum is drawn first; the smaller ones cover its lower part.
      const shown = series.map((each, index) => ({
        ...each,
        colour: colour(COLOURS[index % COLOURS.length]!),
        sums: stacked
          ? labels.map((_, at) => series.slice(0, index + 1).reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
          : labels.map((_, at) => each.values[at] ?? null),
      }));
      if (stacked) shown.reverse();
      const axis = { stroke: colour("ink-faint"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false } };
      const known = shown.flatMap(({ sums }) => sums.filter((value) => value !== null));
      const top = Math.max(max ?? 0, ...known, 0);
      const low = Math.min(0, ...known);
      return new Uplot(
        {
          width: element.clientWidth,
          height,
          legend: { show: false },
          cursor: { show: false },
          padding: [8, 8, 0, 0],
          scales: {
            x: { time: false, range: [-0.6, labels.length - 0.4] },
            y: { range: [low * 1.05, top === 0 && low === 0 ? 1 : top * 1.05] },
          },
          axes: [
            {
              ...axis,
              grid: { show: false },
              size: 24,
              space: 70,
              incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
              values: (chart, at) => at.map((index) => fitting(labels[index] ?? "", chart, labels.length, at)),
            },
            {
              ...axis,
              size: (_, shownValues) =>
                Math.max(56, ...(shownValues ?? []).map((value) => value.length * LETTER_PX + 8)),
              values: (_, at) => at.map(format),
            },
          ],
          series: [
            {},
            ...shown.map((each): Uplot.Series => ({
              label: each.name,
              stroke: each.colour,
              width: kind === "stacked-bars" || kind === "bars" ? 0 : 1.5,
              ...looksOf(kind, each.colour, labels.length),
            })),
          ],
        },
        kind === "bars"
          ? besideEachOther(
              labels.length,
              shown.map(({ sums }) => sums),
            )
          : [xs, ...shown.map(({ sums }) => [...sums])],
        element,
      );
    };
    let chart = draw();
    // The tokens change with the theme, so a change draws again.
    element.dataset["drawnFor"] = shownTheme;
    const redraw = (): void => {
      chart.destroy();
      chart = draw();
    };
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", redraw);
    return () => {
      watch.disconnect();
      dark.removeEventListener("change", redraw);
      chart.destroy();
    };
  }, [labels, series, kind, height, format, max, shownTheme]);
  return <div ref={place} aria-hidden style={{ height }} className="w-full forced-color-adjust-none" />;
}

/** An axis label, cut to the space up to the next one. */
function fitting(label: string, { bbox }: Uplot, count: number, shown: readonly number[]): string {
  const step = (shown[1] ?? 1) - (shown[0] ?? 0);
  const width = (bbox.width / devicePixelRatio / (count + 0.2)) * step;
  const letters = Math.max(3, Math.floor(width / LETTER_PX) - 1);
  return label.length <= letters ? label : `${label.slice(0, letters - 1)}…`;
}
const LETTER_PX = 7;

/** The share of a label's width that its bars take. */
const GROUP = 0.8;

/** Gives each series its own positions around the label, so that bars stand beside each other. */
function besideEachOther(
  count: number,
  series: readonly (readonly (number | null)[])[],
): [xs: number[], ...values: (number | null)[][]] {
  const of = series.length;
  const places = Array.from({ length: count * of }, (_, at) => ({ label: Math.floor(at / of), own: at % of }));
  return [
    places.map(({ label, own }) => label + ((own - (of - 1) / 2) * GROUP) / of),
    ...series.map((values, index) => places.map(({ label, own }) => (own === index ? (values[label] ?? null) : null))),
  ];
}

function looksOf(kind: UplotChartProps["kind"], colour: string, count: number): Partial<Uplot.Series> {
  switch (kind) {
    case "bars":
      return { points: { show: false }, fill: colour, paths: Uplot.paths.bars!({ size: [0.85, 56], radius: 0.1 }) };
    case "stacked-bars":
      return { points: { show: false }, fill: colour, paths: Uplot.paths.bars!({ size: [0.7, 40], radius: 0.1 }) };
    case "line":
      return { points: { show: count < 40, size: 4 }, fill: `color-mix(in srgb, ${colour} 15%, transparent)` };
    case "points":
      return { points: { show: true, size: 6, fill: colour }, paths: () => null };
  }
}
