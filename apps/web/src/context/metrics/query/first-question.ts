import type { MetricDefinition } from "@tandem/protocol";
import type { Question } from "./metric-question.ts";

/** A query that shows a metric over time, if it has one. */
export function firstQuestion({
  connection,
  name,
  fields,
}: Pick<MetricDefinition, "connection" | "name" | "fields">): Question {
  const time = fields.find(({ granularities }) => granularities !== undefined);
  return {
    connection,
    metrics: [name],
    by: time ? [timeBy(time)] : [],
    where: [],
    segments: [],
    order: [],
    limit: 1_000,
    fill: false,
  };
}

/** A time as a query first groups by it: by month, or its finest longer period. */
export function timeBy({ field, granularities = [] }: MetricDefinition["fields"][number]): string {
  const period = granularities.includes("month") ? "month" : granularities[0];
  return period === undefined ? field : `${field}.${period}`;
}
