import type { SqlAnswer } from "@tandem/protocol";
import { useMemo, useState } from "react";
import { Chart } from "../../chart/chart.tsx";
import { Select } from "../../ui/select.tsx";
import { CHART_KINDS, type ChartChoice, chartData, type ChartKind, firstChoice } from "./chart-data.ts";
import { columnTypes, isNumeric } from "./column-types.ts";

const KIND_LABELS: Readonly<Record<ChartKind, string>> = { bars: "Bars", line: "Line", points: "Points" };
const UPLOT_KINDS = { bars: "stacked-bars", line: "line", points: "points" } as const;
const shown = (value: number): string => value.toLocaleString();

/** A simple chart of two columns of an answer. */
export function ResultChart({ answer }: { answer: SqlAnswer }) {
  const [chosen, setChosen] = useState<ChartChoice>();
  const choice = chosen ?? firstChoice(answer);
  const data = useMemo(() => choice && chartData(answer, choice), [answer, choice]);
  if (!choice || !data) {
    return <p className="text-sm text-ink-faint">A chart needs two rows and a column of numbers.</p>;
  }
  const types = columnTypes(answer);
  const all = answer.columns.map((name, at) => ({ value: String(at), label: name }));
  const set = (part: Partial<ChartChoice>): void => setChosen({ ...choice, ...part });
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-ink-soft">
        <Select
          isBare
          aria-label="Kind of chart"
          value={choice.kind}
          onChange={(kind) => set({ kind })}
          options={CHART_KINDS.map((kind) => ({ value: kind, label: KIND_LABELS[kind] }))}
        />
        <Select
          isBare
          aria-label="Horizontal axis"
          value={String(choice.x)}
          onChange={(x) => set({ x: Number(x) })}
          options={all}
        />
        <span aria-hidden>→</span>
        <Select
          isBare
          aria-label="Vertical axis"
          value={String(choice.y)}
          onChange={(y) => set({ y: Number(y) })}
          options={all.filter((_, at) => isNumeric(types[at]))}
        />
        {data.isCut && <span className="text-xs text-ink-faint">first {data.labels.length} rows</span>}
      </div>
      <Chart
        title={`${answer.columns[choice.y] ?? ""} by ${answer.columns[choice.x] ?? ""}`}
        xLabel={answer.columns[choice.x] ?? ""}
        labels={data.labels}
        series={data.series}
        kind={UPLOT_KINDS[choice.kind]}
        height={260}
        format={shown}
      />
    </div>
  );
}
