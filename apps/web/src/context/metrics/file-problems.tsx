import { TriangleAlert } from "lucide-react";
import { useMetricProblems, useMetrics } from "./metric-api.ts";

/** Problems of files, entities, measures and dimensions. Those of a metric are shown at the metric itself. */
export function FileProblems({ className = "" }: { className?: string }) {
  const problems = useMetricProblems();
  const metrics = useMetrics();
  const listed = new Set(metrics.data?.data.map(({ connection, entity, name }) => `${connection}/${entity}/${name}`));
  const others = (problems.data?.data ?? []).filter(
    ({ connection, entity, name }) => !listed.has(`${connection}/${entity}/${name}`),
  );
  if (others.length === 0) return null;
  return (
    <details className={`rounded-md bg-bad-soft px-3 py-2 text-sm text-bad ${className}`}>
      <summary className="cursor-pointer rounded font-medium">
        <TriangleAlert aria-hidden className="mr-1.5 inline size-4 align-text-bottom" />
        {others.length === 1 ? "1 definition" : `${others.length} definitions`} cannot be used
      </summary>
      <ul className="mt-1.5 space-y-2">
        {others.map(({ path, entity, name, message, fix }) => (
          <li key={`${path} ${name} ${message}`}>
            <span className="block font-mono text-xs wrap-anywhere">
              {path}
              {name !== undefined && `: ${name}`}
              {name === undefined && entity !== undefined && `: ${entity}`}
            </span>
            <span className="block wrap-anywhere">{message}</span>
            {fix !== undefined && <span className="block wrap-anywhere text-ink">{fix}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}
