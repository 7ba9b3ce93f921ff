import { lazy, Suspense, useId, useState } from "react";
import { COLOURS } from "./chart-colours.ts";
import type { UplotChartProps } from "./uplot-chart.tsx";

const UplotChart = lazy(() => import("./uplot-chart.tsx"));

/** A chart with the same figures as a table, for keyboards and screen readers. The chart library is a lazy chunk. */
export function Chart({ title, ...props }: UplotChartProps & { title: string }) {
  const [isTable, setTable] = useState(false);
  const id = useId();
  const { series, labels, format } = props;
  return (
    <figure aria-labelledby={id} className="min-w-0">
      <figcaption className="mb-1 flex items-baseline gap-3 text-xs text-ink-faint">
        <span id={id}>{title}</span>
        <button
          type="button"
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
          className="ml-auto min-h-6 shrink-0 rounded text-accent underline-offset-2 hover:underline pointer-coarse:min-h-10"
        >
          {isTable ? "Show chart" : "Show table"}
        </button>
      </figcaption>
      {isTable ? (
        <section
          tabIndex={0}
          aria-label={`${title}, table`}
          className="max-h-72 overflow-auto rounded-md border border-line"
        >
          <table className="w-full text-sm tabular-nums">
            <thead className="sticky top-0 bg-raised text-left text-xs text-ink-soft">
              <tr>
                <th scope="col" className="px-2 py-1 font-medium">
                  {props.xLabel}
                </th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" className="px-2 py-1 text-right font-medium">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {labels.map((label, index) => (
                <tr key={index} className="border-t border-line">
                  <th scope="row" className="px-2 py-0.5 text-left font-normal whitespace-nowrap">
                    {label}
                  </th>
                  {series.map(({ name, values }) => (
                    <td key={name} className="px-2 py-0.5 text-right">
                      {formatted(values[index] ?? null, format)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : (
        <>
          <Suspense fallback={<div aria-hidden style={{ height: props.height }} />}>
            <UplotChart {...props} />
          </Suspense>
          {series.length > 1 && (
            <ul className="mt-1 flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-ink-soft">
              {series.map(({ name }, index) => (
                <li key={name} className="flex items-center gap-1.5">
                  <span
                    aria-hidden
                    className="size-2 rounded-sm forced-color-adjust-none"
                    style={{ background: `var(--${COLOURS[index % COLOURS.length]})` }}
                  />
                  {name}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </figure>
  );
}

const formatted = (value: number | null, format: (value: number) => string): string =>
  value === null ? "–" : format(value);
