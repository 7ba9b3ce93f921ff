import type { MetricDefinition } from "@tandem/protocol";
import { Part } from "./definition-part.tsx";

/** How the metric is computed, down to the columns of tables. */
export function MetricFormula({ metric: { kind, formula, measures } }: { metric: MetricDefinition }) {
  return (
    <Part title="Formula">
      <p className="rounded-lg border border-line bg-surface px-3 py-2 font-mono text-sm wrap-anywhere">{formula}</p>
      {kind !== "simple" && (
        <dl className="mt-2 space-y-1.5 text-sm">
          {measures.map(({ entity, name, formula: own, where, unit }) => (
            <div key={`${entity}.${name}`} className="grid gap-x-4 sm:grid-cols-[minmax(9rem,auto)_minmax(0,1fr)]">
              <dt className="font-mono text-xs leading-5 text-ink-faint wrap-anywhere">
                {entity}.{name}
              </dt>
              <dd className="min-w-0 font-mono text-xs leading-5 wrap-anywhere">
                {own}
                {unit !== undefined && <span className="font-sans text-ink-faint"> {unit}</span>}
                {where.map((condition) => (
                  <span key={condition} className="block">
                    <span className="font-sans text-ink-faint">only where</span> {condition}
                  </span>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Part>
  );
}
