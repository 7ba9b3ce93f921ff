import type { MetricDefinition, MetricField, MetricSummary } from "@tandem/protocol";
import { Choice } from "../../../ui/choice.tsx";
import { Select } from "../../../ui/select.tsx";
import { CheckList } from "./check-list.tsx";
import { ChosenList } from "./chosen-list.tsx";
import { FilterRow } from "./filter-row.tsx";
import { timeBy } from "./first-question.ts";
import { newFilter } from "./metric-filter.ts";
import { LIMITS, type Question } from "./metric-question.ts";
import { OrderPart } from "./order-part.tsx";
import { QueryPart } from "./query-part.tsx";

/** All parts of a query, to choose by clicking. */
export function QueryPane({
  question,
  metrics,
  fields,
  definitions,
  onChange,
}: {
  question: Question;
  metrics: readonly MetricSummary[];
  fields: readonly MetricField[];
  definitions: readonly MetricDefinition[];
  onChange: (part: Partial<Question>) => void;
}) {
  const hasMetrics = question.metrics.length > 0;
  const segments = new Map(definitions.flatMap((each) => each.segments.map((one) => [one.field, one] as const)));
  const fieldOf = (name: string): Pick<MetricField, "label" | "type" | "values"> | undefined => {
    const metric = metrics.find((each) => each.name === name && question.metrics.includes(name));
    if (metric) return { label: metric.label, type: "number" };
    const field = fields.find((each) => each.field === name);
    return field && { ...field, label: fieldLabel(field) };
  };
  return (
    <div className="space-y-5">
      <QueryPart title="Metrics">
        <ChosenList
          kind="metric"
          items={question.metrics.map((name) => ({
            key: name,
            label: metrics.find((each) => each.name === name)?.label ?? name,
          }))}
          onRemove={(name) => onChange({ metrics: without(question.metrics, name) })}
        />
        <CheckList
          label="Choose metrics"
          items={metrics.map((each) => metricItem(each, question))}
          chosen={question.metrics}
          onToggle={(name) => onChange(withMetric(question, metrics, name))}
        />
      </QueryPart>
      <QueryPart title="Group by">
        <ChosenList
          kind="field"
          items={question.by.map((name) => {
            const field = groupField(fields, name);
            return {
              key: name,
              label: field ? fieldLabel(field) : name,
              hint: field && hintOf(field),
              control: field?.granularities && (
                <Select
                  isBare
                  aria-label={`Period of ${fieldLabel(field)}`}
                  value={name.slice(field.field.length + 1)}
                  onChange={(period) =>
                    onChange({ by: question.by.map((each) => (each === name ? `${field.field}.${period}` : each)) })
                  }
                  options={field.granularities.map((period) => ({ value: period, label: period }))}
                />
              ),
            };
          })}
          onRemove={(name) => onChange({ by: without(question.by, name) })}
        />
        <CheckList
          label="Choose fields"
          isDisabled={!hasMetrics}
          items={fields.map(fieldItem)}
          chosen={question.by.map((name) => groupField(fields, name)?.field ?? name)}
          onToggle={(name) => {
            const grouped = question.by.find((each) => groupField(fields, each)?.field === name);
            const field = fields.find((each) => each.field === name);
            if (grouped !== undefined) onChange({ by: without(question.by, grouped) });
            else if (field) onChange({ by: [...question.by, field.granularities ? timeBy(field) : name] });
          }}
        />
        {(question.fill || canFill(question, fields)) && (
          <div className="mt-2">
            <Choice
              type="checkbox"
              name="fill"
              label="Show periods without rows"
              hint="Needs a range of this time under Filters."
              isChosen={question.fill}
              onChoose={() => onChange({ fill: !question.fill })}
            />
          </div>
        )}
      </QueryPart>
      <QueryPart title="Filters">
        {question.where.length > 0 && (
          <ul className="mb-2 space-y-1.5">
            {question.where.map((filter, at) => (
              <FilterRow
                key={at}
                filter={filter}
                field={fieldOf(filter.field)}
                onChange={(next) => onChange({ where: question.where.with(at, next) })}
                onRemove={() => onChange({ where: question.where.toSpliced(at, 1) })}
              />
            ))}
          </ul>
        )}
        <Select
          aria-label="Add a filter"
          className="w-full"
          disabled={!hasMetrics}
          value=""
          onChange={(name) => {
            const field = fieldOf(name);
            if (field) onChange({ where: [...question.where, newFilter({ field: name, ...field })] });
          }}
          options={[
            { value: "", label: "Add a filter" },
            ...fields.map((field) => ({
              value: field.field,
              label: [fieldLabel(field), hintOf(field)].filter(Boolean).join(" · "),
            })),
            ...question.metrics.map((name) => ({ value: name, label: `${name} (the metric's value)` })),
          ]}
        />
      </QueryPart>
      {(segments.size > 0 || question.segments.length > 0) && (
        <QueryPart title="Segments">
          <div className="space-y-1.5">
            {[...new Set([...segments.keys(), ...question.segments])].map((name) => (
              <Choice
                key={name}
                type="checkbox"
                name="segments"
                label={name}
                hint={segments.get(name)?.condition}
                isChosen={question.segments.includes(name)}
                onChoose={() => onChange({ segments: toggled(question.segments, name) })}
              />
            ))}
          </div>
        </QueryPart>
      )}
      <OrderPart question={question} onChange={onChange} />
      <QueryPart title="Limit">
        <Select
          aria-label="Row limit"
          className="w-full"
          value={String(question.limit)}
          onChange={(limit) => onChange({ limit: Number(limit) })}
          options={[...new Set([...LIMITS, question.limit])]
            .sort((a, b) => a - b)
            .map((rows) => ({ value: String(rows), label: `${rows.toLocaleString()} rows` }))}
        />
      </QueryPart>
    </div>
  );
}

const without = (list: readonly string[], name: string): string[] => list.filter((each) => each !== name);
const toggled = (list: readonly string[], name: string): string[] =>
  list.includes(name) ? without(list, name) : [...list, name];

/** Adds or removes a metric. The connection is that of the metrics; names can repeat between connections. */
function withMetric(question: Question, metrics: readonly MetricSummary[], name: string): Partial<Question> {
  const next = toggled(question.metrics, name);
  const connections = new Set(metrics.filter((each) => each.name === next[0]).map(({ connection }) => connection));
  const [only] = connections;
  return {
    metrics: next,
    connection: next.length === 0 ? undefined : (question.connection ?? (connections.size === 1 ? only : undefined)),
  };
}

function metricItem({ name, label, unit, aka, connection, description, broken }: MetricSummary, question: Question) {
  const isElsewhere =
    question.metrics.length > 0 && question.connection !== undefined && connection !== question.connection;
  return {
    value: name,
    label: label ?? name,
    hint: broken
      ? `Broken: ${broken.message}`
      : isElsewhere
        ? `In ${connection}`
        : [unit, description].filter(Boolean).join(", "),
    words: [...aka, name, description].join(" "),
    isDisabled: broken !== undefined || isElsewhere,
  };
}

/** Periods without rows can be added to a query by one time alone. */
const canFill = ({ by }: Question, fields: readonly MetricField[]): boolean =>
  by.length === 1 && groupField(fields, by[0]!)?.granularities !== undefined;

/** The path of a field with a label. */
const hintOf = ({ field, label }: MetricField): string | undefined =>
  label === undefined || field === "time" ? undefined : field;

const fieldItem = (field: MetricField) => ({
  value: field.field,
  label: fieldLabel(field),
  hint:
    field.field === "time"
      ? "The own time of each metric"
      : [hintOf(field), field.description].filter(Boolean).join(": ") || undefined,
  words: [field.field, field.description].join(" "),
});

/** The field that a query groups by, with or without a period. */
const groupField = (fields: readonly MetricField[], name: string): MetricField | undefined =>
  fields.find(
    ({ field, granularities }) => name === field || granularities?.some((period) => name === `${field}.${period}`),
  );

/** The name of a field for people. `time` is the own time of each metric. */
function fieldLabel({ field, label }: Pick<MetricField, "field" | "label">): string {
  if (field === "time") return label === undefined ? "Time" : `Time (${label})`;
  return label ?? field;
}
