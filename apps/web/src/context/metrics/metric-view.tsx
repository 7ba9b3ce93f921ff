import type { MetricDefinition, MetricField } from "@tandem/protocol";
import { ChartLine } from "lucide-react";
import type { ReactNode } from "react";
import { Code } from "../../text/code.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge } from "../badge.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { usePages } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { Part } from "./definition-part.tsx";
import { metricPath } from "./metric-api.ts";
import { MetricFormula } from "./metric-formula.tsx";
import { MetricHistory } from "./metric-history.tsx";
import { questionSearch } from "./query/metric-question.ts";
import { firstQuestion, timeBy } from "./query/first-question.ts";
import { Refusal } from "./refusal.tsx";
import { count } from "../../text/format.ts";

/** A definition: formula, filters, tables, fields, text, version, history and evidence. */
export function MetricView({ connection, name }: { connection: string; name: string }) {
  const query = useServerQuery("context.metrics.retrieve", { query: { name, connection } }, { retry: false });
  const { data: metric, error, refetch } = query;
  if (error) return <Problem error={error} onRetry={() => void refetch()} className="m-4" />;
  if (!metric) return null;
  const title = metric.label ?? metric.name;
  return (
    <article className="mx-auto max-w-4xl px-4 py-5 sm:px-6">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="text-lg font-semibold wrap-anywhere">{title}</h2>
        {metric.label !== undefined && <span className="font-mono text-sm text-ink-faint">{metric.name}</span>}
        <Badge>{metric.kind}</Badge>
        {metric.broken && <Badge look="bad">broken</Badge>}
        {!metric.broken && (
          <ContextLink
            path="metrics/query"
            search={questionSearch(firstQuestion(metric))}
            className={`${buttonClass("primary", "small")} ml-auto`}
          >
            <ChartLine aria-hidden className="size-3.5" /> Query
          </ContextLink>
        )}
      </div>
      {metric.broken && (
        <Refusal
          className="mt-3"
          title="This metric cannot be used"
          message={metric.broken.message}
          fix={metric.broken.fix ?? `Correct the definition in ${metric.path}.`}
        />
      )}
      {metric.description !== undefined && <p className="mt-1.5 text-ink-soft">{metric.description}</p>}
      <Facts metric={metric} />
      {!metric.broken && <MetricFormula metric={metric} />}
      {metric.tables.length > 0 && (
        <Part title="Reads">
          <ul className="flex flex-wrap gap-1.5">
            {metric.tables.map((table) => (
              <li key={table}>
                <Chip path={`tables/${metric.connection}/${table}`}>{table}</Chip>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {metric.uses.length > 0 && (
        <Part title="Computed from">
          <ul className="flex flex-wrap gap-1.5">
            {metric.uses.map((used) => (
              <li key={used}>
                <Chip path={metricPath({ connection: metric.connection, name: used })}>{used}</Chip>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {metric.fields.length > 0 && (
        <Part title="Group and filter by" count={metric.fields.length}>
          <FieldList metric={metric} />
        </Part>
      )}
      {metric.segments.length > 0 && (
        <Part title="Segments" count={metric.segments.length}>
          <dl className="divide-y divide-line rounded-lg border border-line bg-surface text-sm">
            {metric.segments.map(({ field, condition }) => (
              <div key={field} className="grid gap-x-4 px-3 py-1.5 sm:grid-cols-[minmax(9rem,auto)_minmax(0,1fr)]">
                <dt className="font-mono text-xs leading-5 wrap-anywhere">{field}</dt>
                <dd className="font-mono text-xs leading-5 text-ink-soft wrap-anywhere">{condition}</dd>
              </div>
            ))}
          </dl>
        </Part>
      )}
      <Part title="Definition">
        <p className="mb-1 font-mono text-xs text-ink-faint wrap-anywhere">{metric.path}</p>
        <Code text={metric.text} language="yaml" />
      </Part>
      <MetricHistory metric={metric} />
    </article>
  );
}

function Chip({ path, children }: { path: string; children: ReactNode }) {
  return (
    <ContextLink
      path={path}
      className="inline-block rounded-md border border-line bg-surface px-2 py-0.5 font-mono text-xs hover:border-line-strong pointer-coarse:py-2"
    >
      {children}
    </ContextLink>
  );
}

function Facts({ metric }: { metric: MetricDefinition }) {
  const pages = usePages();
  const { page } = metric;
  const title = pages.data?.data.find(({ key }) => key === page)?.title;
  return (
    <dl className="mt-3 flex flex-wrap gap-x-6 gap-y-1 text-sm">
      <Fact name="Owner">{metric.owner ?? <span className="text-ink-faint">none named</span>}</Fact>
      {metric.unit !== undefined && <Fact name="Unit">{metric.unit}</Fact>}
      {metric.aka.length > 0 && <Fact name="Also called">{metric.aka.join(", ")}</Fact>}
      <Fact name="Entity">{metric.entity}</Fact>
      <Fact name="Connection">{metric.connection}</Fact>
      <Fact name="Version">
        <a href="#metric-history" className={`font-mono text-xs ${linkClass}`} onClick={showHistory}>
          {metric.version}
        </a>
      </Fact>
      {page !== undefined && (
        <Fact name="Wiki page">
          <ContextLink path={`wiki/${page}`} className={linkClass}>
            {title ?? page}
          </ContextLink>
        </Fact>
      )}
    </dl>
  );
}

/** The address belongs to the router, so the link must not change it. */
function showHistory(event: { preventDefault: () => void }): void {
  event.preventDefault();
  const history = document.getElementById("metric-history");
  history?.scrollIntoView({ block: "start" });
  history?.focus({ preventScroll: true });
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-ink-faint">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </div>
  );
}

/** The fields of a metric. Each leads to a query that groups by it. */
function FieldList({ metric }: { metric: MetricDefinition }) {
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-surface text-sm">
      {metric.fields.map((field) => (
        <li key={field.field} className="grid gap-x-4 px-3 py-1.5 sm:grid-cols-[minmax(11rem,1fr)_minmax(0,2fr)]">
          <ContextLink
            path="metrics/query"
            search={questionSearch({ ...firstQuestion(metric), by: [groupBy(field)] })}
            className="min-w-0 text-accent hover:underline wrap-anywhere pointer-coarse:py-2"
          >
            <span className="font-mono text-xs leading-5">{field.field}</span>
          </ContextLink>
          <span className="min-w-0 text-ink-soft wrap-anywhere">
            {field.field === "time" ? `The metric's own time: ${field.label ?? field.entity}` : aboutOf(field)}{" "}
            <span className="text-xs text-ink-faint">{detailOf(field)}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

const groupBy = (field: MetricField): string => (field.granularities ? timeBy(field) : field.field);

const aboutOf = ({ label, description }: MetricField): string => [label, description].filter(Boolean).join(": ");

function detailOf({ type, granularities, values }: MetricField): string {
  if (granularities) return `by ${granularities.join(", ")}`;
  return values ? `${type}, ${count(values.length)} values` : type;
}
