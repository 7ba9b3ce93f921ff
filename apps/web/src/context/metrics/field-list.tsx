import type { MetricDefinition, MetricField } from "@tandem/protocol";
import { count } from "../../text/format.ts";
import { ContextLink } from "../context-link.tsx";
import { firstQuestion, timeBy } from "./query/first-question.ts";
import { questionSearch } from "./query/metric-question.ts";

/** The fields of a metric. Each leads to a query that groups by it. */
export function FieldList({ metric }: { metric: MetricDefinition }) {
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
