import type { MetricAnswer } from "@tandem/protocol";
import { useMemo } from "react";
import { Chart } from "../../../chart/chart.tsx";
import { answerChartData } from "./answer-chart-data.ts";
import { columnFormat, shortNumber } from "./number-format.ts";

/** A chart for each metric: lines over a time, bars over categories, or the figure itself. */
export function AnswerChart({ answer }: { answer: MetricAnswer }) {
  const data = useMemo(() => answerChartData(answer), [answer]);
  if (data.kind === "none") return <p className="text-sm text-ink-faint">{data.reason}</p>;
  if (data.kind === "figures") return <Figures answer={answer} />;
  const field = answer.columns[data.x]!;
  return (
    <div className="space-y-6">
      {data.charts.map(({ metric, series }) => {
        const { name, label, unit } = answer.columns[metric]!;
        return (
          <Chart
            key={name}
            title={`${label ?? name}${unit === undefined ? "" : ` in ${unit}`} by ${field.label ?? field.name}`}
            xLabel={field.label ?? field.name}
            labels={data.labels}
            series={series}
            kind={data.kind}
            height={data.charts.length > 1 ? 200 : 280}
            format={shortNumber}
          />
        );
      })}
      {data.notes.length > 0 && <p className="text-xs text-ink-faint">{data.notes.join(" ")}</p>}
    </div>
  );
}

function Figures({ answer: { columns, rows } }: { answer: MetricAnswer }) {
  return (
    <dl className="flex flex-wrap gap-3">
      {columns.map(({ name, label, unit }, at) => {
        const value = rows[0]?.[at] ?? null;
        const number = value === null || typeof value === "boolean" ? undefined : columnFormat([value])(value);
        return (
          <div key={name} className="min-w-40 rounded-lg border border-line bg-surface px-4 py-3">
            <dt className="text-sm text-ink-soft">{label ?? name}</dt>
            <dd className="text-2xl font-semibold tabular-nums" title={number?.exact}>
              {number?.shown ?? (value === null ? "–" : String(value))}
              {unit !== undefined && <span className="ml-1.5 text-sm font-normal text-ink-faint">{unit}</span>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
