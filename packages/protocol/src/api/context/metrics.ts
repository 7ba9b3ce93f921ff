import { z } from "zod";
import { listOf } from "../page.ts";
import { metricQuery } from "./metric-query.ts";

const metricKind = z.enum(["simple", "ratio", "derived", "cumulative"]);

const problem = z.object({ message: z.string(), fix: z.string().optional() });

export const metricSummary = z
  .object({
    name: z.string(),
    connection: z.string(),
    entity: z.string().meta({ description: "The entity whose file defines it." }),
    kind: metricKind,
    label: z.string().optional(),
    description: z.string().optional(),
    owner: z.string().optional(),
    unit: z.string().optional(),
    aka: z.array(z.string()).meta({ description: "Other names by which people ask for it." }),
    page: z.string().optional().meta({ description: "The wiki page that explains it." }),
    broken: problem.optional().meta({ description: "Why the metric cannot be used, and how to repair it." }),
  })
  .meta({ id: "MetricSummary" });
export type MetricSummary = z.infer<typeof metricSummary>;

const metricField = z
  .object({
    field: z.string().meta({ description: "As a query names it: `customer.segment`, `order.placed`." }),
    entity: z.string(),
    label: z.string().optional(),
    description: z.string().optional(),
    type: z.enum(["number", "text", "boolean", "day", "instant"]),
    granularities: z
      .array(z.string())
      .optional()
      .meta({ description: "Present for times: the periods that can follow the name, as in `placed.month`." }),
    values: z
      .array(z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .meta({ description: "All values of the column, if the catalogue has them." }),
  })
  .meta({ id: "MetricField" });
export type MetricField = z.infer<typeof metricField>;

const metricDefinition = metricSummary
  .extend({
    path: z.string().meta({ description: "The file of the context that defines it." }),
    version: z.string().meta({ description: "The commit that changed the file last." }),
    text: z.string().meta({ description: "The definition in the file." }),
    formula: z.string().meta({ description: "The metric in one line: `sum(amount_cents / 100) where real`." }),
    tables: z.array(z.string()),
    uses: z.array(z.string()).meta({ description: "Other metrics that it is computed from." }),
    measures: z.array(
      z.object({
        entity: z.string(),
        name: z.string(),
        formula: z.string().meta({ description: "`sum(amount_cents / 100)`." }),
        where: z.array(z.string()),
        unit: z.string().optional(),
      }),
    ),
    fields: z.array(metricField).meta({ description: "The fields that can group and filter the metric." }),
    segments: z.array(z.object({ field: z.string(), condition: z.string() })),
  })
  .meta({ id: "MetricDefinition" });
export type MetricDefinition = z.infer<typeof metricDefinition>;

export const metricAnswer = z
  .object({
    connection: z.string(),
    columns: z.array(
      z.object({
        name: z.string(),
        kind: z.enum(["dimension", "metric"]),
        type: z.enum(["number", "text", "boolean", "day", "instant"]),
        label: z.string().optional(),
        unit: z.string().optional(),
      }),
    ),
    rows: z
      .array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])))
      .meta({ description: "Empty if the query was only compiled." }),
    truncated: z.boolean(),
    sql: z.string(),
    plan: z.array(z.string()).meta({ description: "Which rows each measure is computed from." }),
    definitions: z.array(z.object({ metric: z.string(), path: z.string(), version: z.string() })),
    warnings: z.array(z.string()),
    elapsed_ms: z.int().optional(),
  })
  .meta({ id: "MetricAnswer" });
export type MetricAnswer = z.infer<typeof metricAnswer>;

const metricProblem = problem.extend({
  connection: z.string(),
  path: z.string(),
  entity: z.string().optional(),
  name: z.string().optional().meta({ description: "The dimension, segment, measure or metric." }),
});
export type MetricProblem = z.infer<typeof metricProblem>;

const connection = z.string().min(1).optional().meta({ description: "Needed only if several databases have metrics." });

export const metricQuestion = metricQuery
  .extend({ connection, compile_only: z.boolean().default(false) })
  .meta({ id: "MetricQuestion" });

export const metricsApi = {
  "context.metrics.list": {
    query: z.strictObject({ connection, query: z.string().max(500).optional() }),
    response: listOf(metricSummary),
  },
  "context.metrics.retrieve": {
    query: z.strictObject({ name: z.string().min(1).max(100), connection }),
    response: metricDefinition,
  },
  /** Fields by which all of the given metrics can be grouped and filtered. */
  "context.metrics.fields": {
    query: z.strictObject({ metrics: z.array(z.string().max(100)).min(1).max(20), connection }),
    response: listOf(metricField),
  },
  "context.metrics.query": { body: metricQuestion, response: metricAnswer },
  "context.metrics.check": {
    query: z.strictObject({ connection }),
    response: listOf(metricProblem),
  },
};
