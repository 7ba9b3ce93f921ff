import type { Value } from "@tandem/connectors";
import { type MetricAnswer, metricAnswer, metricQuestion, type MetricSummary, metricSummary } from "@tandem/protocol";
import { z } from "zod";
import type { Metrics } from "../metrics/metrics-service.ts";
import type { SearchView } from "../search/context-search.ts";
import { type ContextTool, defineContextTool } from "../context-tool.ts";

/** Fields fill an agent's window, so that only the best metrics come with theirs. */
const WITH_FIELDS = 5;
const SHOWN_VALUES = 20;

/** Find metrics, and compute them. */
export const metricTools = (metrics: Metrics, search: SearchView): ContextTool[] => [
  searchTool(metrics, search),
  queryTool(metrics),
];

const queryField = z.object({
  field: z.string(),
  type: z.string(),
  granularities: z.array(z.string()).optional().describe("Periods that can follow the name: `placed.month`."),
  values: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
});

const foundMetric = metricSummary.extend({
  fields: z.array(queryField).optional().describe("The fields by which `metric_query` can group and filter it."),
});

const searchTool = (metrics: Metrics, search: SearchView): ContextTool =>
  defineContextTool({
    name: "metric_search",
    title: "Find metrics",
    description:
      "Finds metrics, the figures that people here have agreed on (revenue, active customers), by name, synonym or description, with the fields that each can be grouped and filtered by. Look here before you write SQL for any figure: if a metric has it, compute it with `metric_query`. Without a query it lists all metrics. A broken metric cannot be computed; its reason says why.",
    input: z.object({
      query: z.string().max(500).default("").describe("Words of the question, in any language."),
      connection: z.string().optional(),
      limit: z.int().min(1).max(100).default(20),
    }),
    output: z.object({ metrics: z.array(foundMetric), total: z.int() }),
    readOnly: true,
    run: async ({ query, connection, limit }, { signal }) => {
      const all = await ranked(metrics, search, { query, connection, signal });
      const shown = await Promise.all(
        all.slice(0, limit).map(async (metric, at) => {
          if (metric.broken || at >= WITH_FIELDS) return metric;
          const fields = await metrics.fields({ metrics: [metric.name], connection: metric.connection });
          return { ...metric, fields: fields.map(shownField) };
        }),
      );
      const lines = shown.flatMap((metric) => [
        `- ${lineOf(metric)}`,
        ...("fields" in metric ? [`  by ${metric.fields.map(fieldText).join("; ")}`] : []),
      ]);
      if (all.length > shown.length)
        lines.push(`${all.length - shown.length} more: use other words or a larger limit.`);
      const markdown = lines.length > 0 ? lines.join("\n") : "No metric was found. Use context_search and sql_query.";
      return { markdown, structured: { metrics: shown, total: all.length } };
    },
  });

/** Metrics with all words come first, then those that the search finds by some words or by meaning. */
async function ranked(
  metrics: Metrics,
  search: SearchView,
  { query, connection, signal }: { query: string; connection: string | undefined; signal: AbortSignal },
): Promise<MetricSummary[]> {
  const exact = await metrics.list({ connection, query });
  if (query.trim() === "") return exact;
  const all = await metrics.list({ connection });
  const { hits } = await search.find({ text: query, kinds: ["metric"], limit: 50, signal });
  const found = hits.flatMap(
    ({ key }) => all.find((metric) => key === `metric:${metric.connection}/${metric.name}`) ?? [],
  );
  const keys = new Set<string>();
  return [...exact, ...found].filter((metric) => {
    const key = `${metric.connection}/${metric.name}`;
    return !keys.has(key) && keys.add(key);
  });
}

const queryTool = (metrics: Metrics): ContextTool =>
  defineContextTool({
    name: "metric_query",
    title: "Compute metrics",
    description:
      "Computes one or more metrics, grouped by fields and filtered, from their agreed definitions. It joins tables itself and counts no row twice, so prefer it to SQL of your own. Names come from `metric_search`. A query that has no safe answer is refused with the reason: choose another field instead of writing SQL around it. A group that is null has rows without that value. Weeks begin on Monday, ranges exclude their end, and periods are named by their first day. The answer has the SQL, the plan, warnings and the version of each definition; with `compile_only` it has no rows.",
    // A copy without an id: clients of MCP reject a schema that is only a reference.
    input: metricQuestion.extend({}),
    output: metricAnswer,
    readOnly: true,
    run: async (question, { signal }) => {
      const answer = await metrics.query(question, { signal });
      return { markdown: answerMarkdown(answer, question.compile_only), structured: answer };
    },
  });

function answerMarkdown(
  { columns, rows, truncated, sql, plan, definitions, warnings }: MetricAnswer,
  compileOnly: boolean,
): string {
  const versions = new Map(definitions.map(({ path, version }) => [path, version]));
  return [
    compileOnly ? ["```sql", sql, "```"].join("\n") : rowsTable(columns, rows),
    truncated && `There are more rows: only the first ${rows.length} are shown.`,
    ...warnings.map((warning) => `Warning: ${warning}`),
    `Computed from: ${plan.join(" ")}`,
    `Defined in ${[...versions].map(([path, version]) => `${path} (${version})`).join(", ")}.`,
  ]
    .filter(Boolean)
    .join("\n\n");
}

function rowsTable(columns: MetricAnswer["columns"], rows: MetricAnswer["rows"]): string {
  if (rows.length === 0) return "No rows.";
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const heads = columns.map(({ name, unit }) => (unit === undefined ? name : `${name} (${unit})`));
  return [line(heads.map(cell)), line(heads.map(() => "---")), ...rows.map((row) => line(row.map(cell)))].join("\n");
}

const cell = (value: Value): string =>
  value === null ? "null" : String(value).replaceAll("|", "\\|").replaceAll(/\r?\n/g, " ");

function lineOf({ name, connection, label, unit, description, aka, broken }: MetricSummary): string {
  const also = aka.length > 0 ? ` (also: ${aka.join(", ")})` : "";
  const text = [label, description].filter(Boolean).join(": ").replaceAll(/\s+/g, " ");
  const state = broken ? `BROKEN: ${broken.message} ` : "";
  return `\`${name}\`${unit === undefined ? "" : ` in ${unit}`}, connection ${connection}${also}. ${state}${text}`.trim();
}

const shownField = ({ field, type, granularities, values }: Awaited<ReturnType<Metrics["fields"]>>[number]) => ({
  field,
  type,
  ...(granularities && { granularities }),
  ...(values && { values: values.slice(0, SHOWN_VALUES) }),
});

function fieldText({ field, granularities, values }: z.output<typeof queryField>): string {
  if (granularities) return `${field}.${granularities.join("|")}`;
  return values ? `${field} (${values.map((value) => JSON.stringify(value)).join(", ")})` : field;
}
