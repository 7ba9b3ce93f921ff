import type { MetricField, MetricFilter } from "@tandem/protocol";
import { X } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { Select } from "../../../ui/select.tsx";
import { FilterValues } from "./filter-values.tsx";
import {
  type Condition,
  CONDITION_LABELS,
  conditionOf,
  conditionsOf,
  isComplete,
  withCondition,
} from "./metric-filter.ts";

/** A filter: its condition, its value, and a button that removes it. */
export function FilterRow({
  filter,
  field,
  onChange,
  onRemove,
}: {
  filter: MetricFilter;
  /** Undefined if the chosen metrics do not have the field. */
  field: Pick<MetricField, "label" | "type" | "values"> | undefined;
  onChange: (filter: MetricFilter) => void;
  onRemove: () => void;
}) {
  const name = field?.label ?? filter.field;
  const current = conditionOf(filter);
  const offered = field ? conditionsOf(field) : [];
  const conditions: readonly Condition[] = offered.includes(current) ? offered : [current, ...offered];
  return (
    <li className="rounded-md border border-line bg-ground px-2 py-1.5">
      <div className="flex items-center gap-1">
        <span className="min-w-0 flex-1 text-sm wrap-anywhere" title={filter.field}>
          {name}
        </span>
        <Button look="quiet" size="icon" aria-label={`Remove the filter on ${name}`} onClick={onRemove}>
          <X aria-hidden className="size-3.5" />
        </Button>
      </div>
      <div className="mt-1 space-y-1.5">
        <Select
          aria-label={`Condition for ${name}`}
          className="w-full"
          value={current}
          onChange={(condition) => onChange(withCondition(filter, condition))}
          options={conditions.map((condition) => ({ value: condition, label: CONDITION_LABELS[condition] }))}
        />
        <FilterValues name={name} filter={filter} field={field} onChange={onChange} />
        {!isComplete(filter) && <p className="text-xs text-wait">Without a value, this filter is not applied.</p>}
      </div>
    </li>
  );
}
