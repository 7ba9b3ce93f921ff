import { z } from "zod";
import type { Expression } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse-expression.ts";
import { GRANULARITIES } from "../sql/granularity.ts";
import type { Aggregate } from "../sql/sql.ts";

/** Names of entities, roles, dimensions, measures and metrics. */
const definedName = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/, "use lowercase letters, digits and underscores, beginning with a letter")
  .max(64);

const expression = z.string().min(1).max(4_000);
const text = z.string().max(10_000);

/** A number of periods: `7 days`, `1 year`. */
const period = z
  .string()
  .regex(/^[1-9]\d{0,3} (minute|hour|day|week|month|quarter|year)s?$/, "write a number and a unit, such as 7 days");

const dimension = z.strictObject({
  /** Default: the column of the dimension's name. */
  expr: expression.optional(),
  /** It is a time; this is its finest period. */
  time: z.enum(GRANULARITIES).optional(),
  /** The time zone in which periods are counted. Stored times without a zone are in UTC. */
  zone: z.string().optional(),
  label: text.optional(),
  description: text.optional(),
  aka: z.array(text).optional(),
});

/** Names of segments or expressions, all of which must hold. */
const conditions = z.union([expression, z.array(expression).min(1)]).transform((given) => [given].flat());

const measure = z
  .strictObject({
    sum: expression.optional(),
    /** An expression that is not NULL, or `rows`. */
    count: expression.optional(),
    count_distinct: expression.optional(),
    min: expression.optional(),
    max: expression.optional(),
    average: expression.optional(),
    median: expression.optional(),
    where: conditions.optional(),
    /** The dimension that `time` means for this measure. Default: the entity's. */
    time: definedName.optional(),
    /** Not additive over time: within each period, only its last or first rows count, or the average of its times. */
    over: z
      .strictObject({
        time: z.enum(["last", "first", "average"]),
        /** Columns or dimensions for each of which the last or first rows are found. Default: none. */
        per: z.array(expression).min(1).optional(),
      })
      .optional(),
    unit: text.optional(),
    description: text.optional(),
  })
  .refine((given) => AGGREGATE_KEYS.filter((key) => given[key] !== undefined).length === 1, {
    message: "name exactly one of sum, count, count_distinct, min, max, average and median",
  });
export const AGGREGATE_KEYS = ["sum", "count", "count_distinct", "min", "max", "average", "median"] as const;

const about = {
  label: text.optional(),
  description: text.optional(),
  owner: text.optional(),
  /** Other names by which people ask for it. */
  aka: z.array(text).optional(),
  /** A wiki page that explains it. */
  page: text.optional(),
  unit: text.optional(),
};

const input = z.strictObject({
  metric: definedName,
  /** The value of so long before. */
  offset: period.optional(),
});

const metric = z.union([
  z.strictObject({ measure: definedName, where: conditions.optional(), ...about }),
  z.strictObject({ ratio: z.tuple([definedName, definedName]), ...about }),
  z.strictObject({ derived: expression, with: z.record(definedName, input).optional(), ...about }),
  z.strictObject({
    cumulative: definedName,
    /** From the start of each such period. */
    to: z.enum(["week", "month", "quarter", "year"]).optional(),
    /** Over so long, including the current period. */
    window: period.optional(),
    ...about,
  }),
]);

/** `metrics/<connection>/<entity>.yaml`. */
export const metricsFile = z.strictObject({
  entity: definedName,
  description: text.optional(),
  /** `schema.table` of the catalogue. */
  table: z.string().min(1),
  /** The columns that identify a row: a verified key of the table. */
  grain: z.array(z.string()).min(1),
  /** Names for accepted joins of the table, by the columns that refer to the other table. */
  roles: z.record(definedName, z.array(z.string()).min(1)).optional(),
  /** The dimension that `time` means for the measures. */
  time: definedName.optional(),
  dimensions: z
    .record(
      definedName,
      z.preprocess((given) => given ?? {}, dimension),
    )
    .optional(),
  segments: z.record(definedName, expression).optional(),
  measures: z.record(definedName, measure).optional(),
  metrics: z.record(definedName, metric).optional(),
});
export type MetricsFile = z.output<typeof metricsFile>;
export type MeasureEntry = NonNullable<MetricsFile["measures"]>[string];
export type MetricEntry = NonNullable<MetricsFile["metrics"]>[string];

/** The aggregate of a measure and its expression; undefined if it counts rows. */
export function aggregateOf(measure: MeasureEntry): { aggregate: Aggregate; expression: Expression | undefined } {
  const aggregate = AGGREGATE_KEYS.find((key) => measure[key] !== undefined)!;
  const text = measure[aggregate]!;
  const countsRows = aggregate === "count" && text === "rows";
  return { aggregate, expression: countsRows ? undefined : parseExpression(text) };
}
