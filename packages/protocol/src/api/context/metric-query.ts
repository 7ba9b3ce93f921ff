import { z } from "zod";

const value = z.union([z.string().max(1_000), z.number(), z.boolean()]);
const field = z.string().min(1).max(300);
const moment = z.string().regex(/^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?$/, "write 2026-03-31 or 2026-03-31T14:00");

export const METRIC_RANGES = [
  "today",
  "yesterday",
  ...(["week", "month", "quarter", "year"] as const).flatMap((unit) => [`this_${unit}`, `last_${unit}`] as const),
] as const;

/** All filters must hold. NULL fulfils only `is_null`. */
const metricFilter = z.union([
  z.strictObject({ field, op: z.enum(["=", "!=", "<", "<=", ">", ">="]), value }),
  z.strictObject({ field, op: z.enum(["in", "not_in"]), values: z.array(value).min(1).max(1_000) }),
  z.strictObject({ field, op: z.enum(["contains", "starts_with"]), value: z.string().min(1).max(1_000) }),
  z.strictObject({ field, op: z.enum(["is_null", "not_null"]) }),
  /** From the first moment, up to but without the last. */
  z
    .strictObject({ field, from: moment.optional(), until: moment.optional() })
    .refine(({ from, until }) => from !== undefined || until !== undefined, "give from, until or both"),
  /** Relative to today, in the zone of the dimension. */
  z.strictObject({ field, range: z.enum(METRIC_RANGES) }),
  /** So many whole periods before the current one. */
  z.strictObject({
    field,
    last: z.strictObject({
      count: z.int().min(1).max(1_000),
      unit: z.enum(["day", "week", "month", "quarter", "year"]),
    }),
  }),
]);
export type MetricFilter = z.output<typeof metricFilter>;

export const metricQuery = z.strictObject({
  metrics: z.array(z.string().max(100)).min(1).max(20),
  by: z.array(field).max(10).default([]).meta({
    description: "Group by: `customer.segment`, `placed.month`. `time.month` is the own time of each metric.",
  }),
  where: z.array(metricFilter).max(50).default([]).meta({
    description:
      "All must hold. A field or metric with `op` and `value` or `values`; a time with `from` (included) and `until` (excluded), `range` or `last`.",
  }),
  segments: z.array(field).max(10).default([]).meta({ description: "Segments of entities: `order.real`." }),
  order: z
    .array(z.strictObject({ field, descending: z.boolean().default(false) }))
    .max(10)
    .default([]),
  limit: z.int().min(1).max(10_000).default(1_000),
  fill: z
    .boolean()
    .default(false)
    .meta({ description: "Also periods without rows, of each group; needs a range and one time among the fields." }),
});
export type MetricQuery = z.output<typeof metricQuery>;
