import type { MetricField, MetricFilter } from "@tandem/protocol";
import { X } from "lucide-react";
import { useState } from "react";
import { TextInput } from "../../../ui/field.tsx";
import { Select } from "../../../ui/select.tsx";
import { CheckList } from "./check-list.tsx";
import { DelayedInput } from "./delayed-input.tsx";
import { type FilterValue, isComparison, PERIOD_UNITS } from "./metric-filter.ts";

interface Props {
  name: string;
  filter: MetricFilter;
  field: Pick<MetricField, "type" | "values"> | undefined;
  onChange: (filter: MetricFilter) => void;
}

/** The controls for the value of a filter. Named ranges and emptiness have none. */
export function FilterValues({ name, filter, field, onChange }: Props) {
  if ("values" in filter) {
    return <ValueChips name={name} filter={filter} field={field} onChange={onChange} />;
  }
  if ("value" in filter) {
    if (field?.type === "boolean") {
      return (
        <Select
          aria-label={`Value of ${name}`}
          className="w-full"
          value={String(filter.value)}
          onChange={(value) => onChange({ field: filter.field, op: "=", value: value === "true" })}
          options={[
            { value: "true", label: "true" },
            { value: "false", label: "false" },
          ]}
        />
      );
    }
    return (
      <DelayedInput
        aria-label={`Value of ${name}`}
        inputMode={field?.type === "number" ? "decimal" : "text"}
        value={String(filter.value)}
        onCommit={(text) => onChange(withText(filter, text, field?.type))}
      />
    );
  }
  if ("last" in filter) return <LastPeriods name={name} filter={filter} onChange={onChange} />;
  if ("op" in filter || "range" in filter) return null;
  return <Dates name={name} filter={filter} onChange={onChange} />;
}

function withText(
  filter: Extract<MetricFilter, { value: unknown }>,
  text: string,
  type: MetricField["type"] | undefined,
): MetricFilter {
  if (!isComparison(filter.op)) return { field: filter.field, op: filter.op, value: text };
  return { field: filter.field, op: filter.op, value: typed(text, type) };
}

/** A number for a field of numbers. Other text is sent as it is, and the server says what is wrong. */
const typed = (text: string, type: MetricField["type"] | undefined): FilterValue =>
  type === "number" && text.trim() !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;

function ValueChips({ name, filter, field, onChange }: Props & { filter: Extract<MetricFilter, { values: unknown }> }) {
  const [text, setText] = useState("");
  const { values } = filter;
  const known = field?.values;
  const toggle = (value: FilterValue): void =>
    onChange({
      ...filter,
      values: values.includes(value) ? values.filter((each) => each !== value) : [...values, value],
    });
  const add = (): void => {
    const value = typed(text.trim(), field?.type);
    if (value !== "" && !values.includes(value)) toggle(value);
    setText("");
  };
  return (
    <div className="space-y-1.5">
      {values.length > 0 && (
        <ul aria-label={`Values of ${name}`} className="flex flex-wrap gap-1">
          {values.map((value) => (
            <li key={String(value)} className="flex max-w-full items-center rounded bg-raised pl-1.5 text-xs">
              <span className="truncate" title={String(value)}>
                {String(value)}
              </span>
              <button
                type="button"
                aria-label={`Remove ${String(value)}`}
                onClick={() => toggle(value)}
                className="grid size-6 shrink-0 place-items-center rounded text-ink-faint hover:text-ink pointer-coarse:size-9"
              >
                <X aria-hidden className="size-3" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {known ? (
        <CheckList
          label="Choose values"
          items={known.map((value) => ({ value: String(value), label: String(value) }))}
          chosen={values.map(String)}
          onToggle={(shown) => toggle(known.find((value) => String(value) === shown) ?? shown)}
        />
      ) : (
        <TextInput
          aria-label={`Add a value of ${name}`}
          placeholder="Type a value, then Enter"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={add}
          onKeyDown={(event) => {
            if (event.key === "Enter") add();
          }}
        />
      )}
    </div>
  );
}

function LastPeriods({
  name,
  filter: { field, last },
  onChange,
}: Omit<Props, "filter" | "field"> & { filter: Extract<MetricFilter, { last: unknown }> }) {
  return (
    <div>
      <div className="flex gap-1.5">
        <DelayedInput
          aria-label={`Number of periods of ${name}`}
          type="number"
          min={1}
          max={1_000}
          className="w-20"
          value={String(last.count)}
          onCommit={(text) => {
            const count = Number(text);
            if (Number.isInteger(count) && count >= 1 && count <= 1_000) onChange({ field, last: { ...last, count } });
          }}
        />
        <Select
          aria-label={`Period of ${name}`}
          className="flex-1"
          value={last.unit}
          onChange={(unit) => onChange({ field, last: { ...last, unit } })}
          options={PERIOD_UNITS.map((unit) => ({ value: unit, label: last.count === 1 ? unit : `${unit}s` }))}
        />
      </div>
      <p className="mt-1 text-xs text-ink-faint">Whole periods before the current one.</p>
    </div>
  );
}

function Dates({
  name,
  filter,
  onChange,
}: Omit<Props, "filter" | "field"> & {
  filter: { field: string; from?: string | undefined; until?: string | undefined };
}) {
  const set = (part: "from" | "until", text: string): void => {
    const next = { ...filter, [part]: text };
    onChange({
      field: filter.field,
      ...(next.from !== undefined && next.from !== "" && { from: next.from }),
      ...(next.until !== undefined && next.until !== "" && { until: next.until }),
    });
  };
  return (
    <div className="grid grid-cols-2 gap-1.5">
      {(["from", "until"] as const).map((part) => (
        <label key={part} className="min-w-0 text-xs text-ink-faint">
          {part === "from" ? "From" : "Before"}
          <DelayedInput
            aria-label={`${name} ${part === "from" ? "from" : "before"}`}
            type={filter[part]?.includes(":") ? "datetime-local" : "date"}
            value={filter[part]?.replace(" ", "T") ?? ""}
            onCommit={(text) => set(part, text)}
          />
        </label>
      ))}
    </div>
  );
}
