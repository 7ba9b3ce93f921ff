import { useEffect, useRef } from "react";
import Uplot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useLive } from "../live/live-value.ts";
import { theme } from "../state/theme.ts";
import { COLOURS } from "./chart-colours.ts";

export interface UplotChartProps {
  /** What the labels are: "Day", "Request". */
  xLabel: string;
  labels: readonly string[];
  series: readonly { name: string; values: readonly number[] }[];
  kind: "stacked-bars" | "line" | "points";
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
          : each.values,
      }));
      if (stacked) shown.reverse();
      const axis = { stroke: colour("ink-faint"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false } };
      const top = Math.max(max ?? 0, ...shown.flatMap(({ sums }) => sums), 0);
      const low = Math.min(0, ...shown.flatMap(({ sums }) => sums));
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
              values: (_, at) => at.map((index) => labels[index] ?? ""),
            },
            { ...axis, size: 56, values: (_, at) => at.map(format) },
          ],
          series: [
            {},
            ...shown.map((each): Uplot.Series => ({
              label: each.name,
              stroke: each.colour,
              width: stacked ? 0 : 1.5,
              ...looksOf(kind, each.colour, labels.length),
            })),
          ],
        },
        [xs, ...shown.map(({ sums }) => [...sums])],
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

function looksOf(kind: UplotChartProps["kind"], colour: string, count: number): Partial<Uplot.Series> {
  switch (kind) {
    case "stacked-bars":
      return { points: { show: false }, fill: colour, paths: Uplot.paths.bars!({ size: [0.7, 40], radius: 0.1 }) };
    case "line":
      return { points: { show: count < 40, size: 4 }, fill: `color-mix(in srgb, ${colour} 15%, transparent)` };
    case "points":
      return { points: { show: true, size: 6, fill: colour }, paths: () => null };
  }
}
