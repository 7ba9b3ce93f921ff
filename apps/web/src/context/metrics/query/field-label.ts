import type { MetricField } from "@tandem/protocol";

/** The name of a field for people. `time` is the own time of each metric. */
export function fieldLabel({ field, label }: Pick<MetricField, "field" | "label">): string {
  if (field === "time") return label === undefined ? "Time" : `Time (${label})`;
  return label ?? field;
}
