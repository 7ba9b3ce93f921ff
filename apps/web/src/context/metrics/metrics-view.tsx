import type { MetricSummary } from "@tandem/protocol";
import { ChartLine } from "lucide-react";
import { useMemo, useState } from "react";
import { buttonClass } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { TextInput } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge } from "../badge.tsx";
import { ContextLink } from "../context-link.tsx";
import { Panes, PaneRow } from "../panes.tsx";
import { ShellCommand } from "../shell-command.tsx";
import { FileProblems } from "./file-problems.tsx";
import { metricPath, useMetrics } from "./metric-api.ts";
import { MetricView } from "./metric-view.tsx";
import { QueryView } from "./query/query-view.tsx";

/** All metrics by connection and entity, with the selected definition; or a query of them. */
export default function MetricsView({ metric }: { metric: string }) {
  return metric === "query" ? <QueryView /> : <MetricList selected={metric} />;
}

function MetricList({ selected }: { selected: string }) {
  const metrics = useMetrics();
  const [filter, setFilter] = useState("");
  const found = useMemo(() => matching(metrics.data?.data ?? [], filter), [metrics.data, filter]);
  const groups = useMemo(() => [...Map.groupBy(found, (each) => `${each.connection} › ${each.entity}`)], [found]);
  if (metrics.data?.data.length === 0) return <NoMetrics />;
  const at = selected.indexOf("/");
  const list = (
    <>
      <div className="sticky top-0 z-10 flex gap-2 border-b border-line bg-surface p-2">
        <TextInput
          type="search"
          aria-label="Filter metrics"
          placeholder="Name, synonym, owner, unit"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <ContextLink path="metrics/query" aria-label="Query metrics" className={buttonClass("plain")}>
          <ChartLine aria-hidden className="size-4" /> Query
        </ContextLink>
      </div>
      <Problem error={metrics.error} onRetry={() => void metrics.refetch()} className="m-3" />
      <FileProblems className="m-3" />
      {groups.map(([place, own]) => (
        <div key={place} className="py-1.5">
          <h2 className="px-4 pt-1 pb-0.5 text-xs font-medium text-ink-faint">{place}</h2>
          {own.map((each) => (
            <PaneRow key={each.name} path={metricPath(each)} isCurrent={`${each.connection}/${each.name}` === selected}>
              <MetricRow metric={each} />
            </PaneRow>
          ))}
        </div>
      ))}
      {metrics.data && groups.length === 0 && <p className="p-4 text-sm text-ink-faint">No metric matches.</p>}
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

const matching = (metrics: readonly MetricSummary[], filter: string): MetricSummary[] => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return metrics.filter(({ name, label, description, owner, unit, entity, kind, aka, broken }) => {
    const texts = [name, label, description, owner, unit, entity, kind, broken && "broken", ...aka];
    const text = texts.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
};

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
