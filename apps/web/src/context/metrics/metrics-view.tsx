import type { MetricSummary } from "@tandem/protocol";
import { ChartLine, TriangleAlert } from "lucide-react";
import { buttonClass } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Badge } from "../badge.tsx";
import { ContextLink } from "../context-link.tsx";
import { Panes, PaneRow } from "../panes.tsx";
import { ShellCommand } from "../shell-command.tsx";
import { metricPath, useMetrics, useMetricProblems } from "./metric-api.ts";
import { MetricView } from "./metric-view.tsx";
import { QueryView } from "./query/query-view.tsx";
import { FilteredList } from "../filtered-list.tsx";

/** All metrics by connection and entity, with the selected definition; or a query of them. */
export default function MetricsView({ metric }: { metric: string }) {
  return metric === "query" ? <QueryView /> : <MetricList selected={metric} />;
}

function MetricList({ selected }: { selected: string }) {
  const metrics = useMetrics();
  if (metrics.data?.data.length === 0) return <NoMetrics />;
  const at = selected.indexOf("/");
  const query = (
    <ContextLink path="metrics/query" aria-label="Query metrics" className={buttonClass("plain")}>
      <ChartLine aria-hidden className="size-4" /> Query
    </ContextLink>
  );
  const list = (
    <>
      <FileProblems className="m-3" />
      <FilteredList
        query={metrics}
        noun="metric"
        placeholder="Name, synonym, owner, unit"
        link={query}
        textOf={textOf}
        groupOf={entityOf}
      >
        {(each) => (
          <PaneRow key={each.name} path={metricPath(each)} isCurrent={`${each.connection}/${each.name}` === selected}>
            <MetricRow metric={each} />
          </PaneRow>
        )}
      </FilteredList>
    </>
  );
  return (
    <Panes
      label="Metrics"
      back="metrics"
      list={list}
      detail={
        at > 0 ? (
          <MetricView key={selected} connection={selected.slice(0, at)} name={selected.slice(at + 1)} />
        ) : undefined
      }
    />
  );
}

function MetricRow({ metric }: { metric: MetricSummary }) {
  const { name, label, kind, unit, owner, aka, broken } = metric;
  const facts = [
    label === undefined ? undefined : name,
    owner,
    aka.length > 0 ? `also ${aka.join(", ")}` : undefined,
  ].filter((fact) => fact !== undefined);
  return (
    <>
      <span className="flex items-baseline gap-2">
        <span className={`min-w-0 truncate ${label === undefined ? "font-mono text-sm" : ""}`}>{label ?? name}</span>
        <span className="ml-auto flex shrink-0 items-baseline gap-1.5">
          {unit !== undefined && <span className="text-xs text-ink-faint">{unit}</span>}
          {broken ? <Badge look="bad">broken</Badge> : <Badge>{kind}</Badge>}
        </span>
      </span>
      {broken ? (
        <span className="block truncate text-xs text-bad">{broken.message}</span>
      ) : (
        <span className="block truncate text-xs text-ink-faint">{facts.join(" · ")}</span>
      )}
    </>
  );
}

const textOf = ({ name, label, description, owner, unit, entity, kind, aka, broken }: MetricSummary): string =>
  [name, label, description, owner, unit, entity, kind, broken && "broken", ...aka].join(" ");
const entityOf = ({ connection, entity }: MetricSummary): string => `${connection} › ${entity}`;

function NoMetrics() {
  return (
    <div className="h-full overflow-y-auto">
      <FileProblems className="mx-auto mt-4 max-w-2xl" />
      <Empty title="No metrics yet">
        <p className="mb-3">
          A metric is defined once, in a file of the context. Queries of it are compiled to SQL that counts no row
          twice. Write <code className="font-mono text-xs">metrics/CONNECTION/ENTITY.yaml</code>, or import definitions:
        </p>
        <ShellCommand>tandem metrics import target/semantic_manifest.json</ShellCommand>
      </Empty>
    </div>
  );
}

/** Problems of files, entities, measures and dimensions. Those of a metric are shown at the metric itself. */
function FileProblems({ className = "" }: { className?: string }) {
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
