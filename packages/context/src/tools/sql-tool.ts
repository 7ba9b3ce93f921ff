import type { QueryEstimate, Rows, Value } from "@tandem/connectors";
import { statementVerdict, type StatementVerdict, verdictLine } from "@tandem/protocol";
import { z } from "zod";
import { type ContextTool, defineContextTool } from "../context-tool.ts";
import { QUERY_LIMITS } from "../metrics/answer-query.ts";
import { runStatement, type StatementParts } from "../verdict/run-statement.ts";

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const DEFAULT_ROWS = 100;

export const queryAnswer = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(value)),
  truncated: z.boolean(),
  estimate: z.object({ rows: z.number().optional(), bytes: z.number().optional(), plan: z.string() }).nullable(),
  verdict: statementVerdict.optional(),
});

export interface SqlToolParts extends StatementParts {
  connections: readonly string[];
}

export const sqlTool = ({ connect, connections, catalogue, metrics, onUnsound }: SqlToolParts): ContextTool =>
  defineContextTool({
    name: "sql_query",
    title: "Query a database",
    description: `Runs one SQL statement that only reads, and returns its rows. Nothing can be written through it, and every query has a deadline and a limit of rows and bytes: aggregate in SQL instead of fetching rows. Look at \`table_describe\` and \`join_path\` first, and use their names and join conditions. With \`estimateOnly\` it says what the query would read, and does not run it. The verdict compares its joins and aggregates with the catalogue: if it is not \`proven\`, correct the statement before you use its numbers; \`rewrite\` and \`instead\` say how, where that is known. Connections: ${connections.join(", ")}.`,
    input: z.object({
      connection: z.string().describe("Which database."),
      sql: z.string().min(1).max(100_000),
      maxRows: z.int().min(1).max(QUERY_LIMITS.maxRows).default(DEFAULT_ROWS),
      estimateOnly: z.boolean().default(false),
    }),
    output: queryAnswer,
    readOnly: true,
    run: async ({ connection, sql, maxRows, estimateOnly }, { signal }) => {
      const { estimate, verdict, ...rows } = await runStatement(
        { connect, catalogue, metrics, onUnsound },
        {
          connection,
          sql,
          estimate: estimateOnly ? "only" : "try",
          limits: { maxRows, maxBytes: QUERY_LIMITS.maxBytes },
          signal,
        },
      );
      return {
        markdown: [shownEstimate(estimate), verdictText(verdict), !estimateOnly && shownRows(rows)]
          .filter(Boolean)
          .join("\n\n"),
        structured: {
          columns: [...rows.columns],
          rows: rows.rows.map((row) => [...row]),
          truncated: rows.truncated,
          estimate,
          verdict,
        },
      };
    },
  });

function shownEstimate(estimate: QueryEstimate | null): string {
  if (!estimate) return "";
  const { rows, bytes } = estimate;
  const figures = [
    ...(rows === undefined ? [] : [`about ${Math.round(rows).toLocaleString("en")} rows`]),
    ...(bytes === undefined ? [] : [`about ${Math.round(bytes).toLocaleString("en")} bytes`]),
  ];
  return figures.length === 0 ? "" : `The database expects to read ${figures.join(", ")}.`;
}

function shownRows({ columns, rows, truncated }: Rows): string {
  if (rows.length === 0) return "No rows.";
  const line = (cells: readonly Value[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [
    line(columns),
    line(columns.map(() => "---")),
    ...rows.map(line),
    ...(truncated ? ["", `There are more rows: only the first ${rows.length} are shown.`] : []),
  ].join("\n");
}

const cell = (value: Value): string =>
  value === null ? "" : String(value).replaceAll("|", "\\|").replaceAll(/\r?\n/g, " ");

/** A verdict as Markdown, for a model or a person. */
function verdictText({ verdict, parts, reason, instead, rewrite }: StatementVerdict): string {
  if (verdict === "proven") return `${verdictLine(verdict)}. No aggregate counts a row twice.`;
  if (verdict === "not_judged") return `${verdictLine(verdict)}. ${reason ?? ""}`.trim();
  return [
    `**${verdictLine(verdict)}**`,
    ...parts.map(({ message }) => `- ${message}`),
    ...(instead ? [`\nAsk for the metric instead: \`metric_query\` with ${JSON.stringify(shortened(instead))}`] : []),
    ...(rewrite === undefined ? [] : [`\nThis counts each row once:\n\n\`\`\`sql\n${rewrite}\n\`\`\``]),
  ].join("\n");
}

/** Without fields that have their defaults. */
const shortened = ({ metrics, by, where }: NonNullable<StatementVerdict["instead"]>): object => ({
  metrics,
  ...(by.length > 0 && { by }),
  ...(where.length > 0 && { where }),
});
