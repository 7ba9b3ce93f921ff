import { listFields, type Model, type QueryField } from "@tandem/metrics";
import type { MetricField } from "@tandem/protocol";
import type { TableValues } from "../catalogue/column-values.ts";
import type { ConnectionMetrics } from "../metric-definitions/metrics-reader.ts";

/** The fields that apply to all of the metrics, with the catalogue's values of plain columns. */
export function describeFields(
  { model }: ConnectionMetrics,
  metrics: readonly string[],
  values: readonly TableValues[],
): MetricField[] {
  return fieldsOf(model, metrics).map((found): MetricField => {
    const { field, entity, dimension, type, granularities } = found;
    const known = type === "text" ? valuesOf(found, values) : undefined;
    return {
      field,
      entity: entity.name,
      ...(dimension.label !== undefined && { label: dimension.label }),
      ...(dimension.description !== undefined && { description: dimension.description }),
      type,
      ...(granularities && { granularities: [...granularities] }),
      ...(known && { values: [...known] }),
    };
  });
}

/** A large model takes a second to search, and stays the same object until a file changes. */
const KNOWN = new WeakMap<Model, Map<string, readonly QueryField[]>>();

function fieldsOf(model: Model, metrics: readonly string[]): readonly QueryField[] {
  const known = KNOWN.get(model) ?? new Map<string, readonly QueryField[]>();
  KNOWN.set(model, known);
  const key = metrics.toSorted().join(" ");
  const fields = known.get(key) ?? listFields(model, metrics);
  known.set(key, fields);
  return fields;
}

function valuesOf({ entity, dimension }: QueryField, values: readonly TableValues[]): readonly string[] | undefined {
  const { expression } = dimension;
  if (expression.kind !== "reference" || expression.reference.path.length > 0) return undefined;
  const { schema, name } = entity.table;
  const table = values.find((each) => each.schema === schema && each.table === name);
  const column = table?.columns.find((each) => each.column === expression.reference.name);
  return column?.isComplete && column.values.length > 0 ? column.values : undefined;
}
