import type { Table } from "@tandem/connectors";
import { EVAL_ARMS, type EvalArm } from "@tandem/protocol";
import { defineTool, type Tool } from "@tandem/runtime";
import { z } from "zod";
import type { SearchKind } from "../search/documents.ts";
import { type ContextTool, answerForModel } from "../context-tool.ts";
import type { EvalDatabases } from "./eval-databases.ts";

/** The tools that each arm adds to the ones before it. */
const ADDED: Record<EvalArm, readonly string[]> = {
  bare: [],
  catalogue: ["context_search", "table_list", "table_describe"],
  joins: ["join_path", "value_lookup", "sql_query"],
  wiki: ["page_read"],
  metrics: ["metric_search", "metric_query"],
  planted: [],
};

const KINDS: Record<EvalArm, readonly SearchKind[]> = {
  bare: [],
  catalogue: ["table", "column"],
  joins: ["value"],
  wiki: ["page", "memory"],
  metrics: ["metric"],
  planted: ["chunk"],
};

const armsUpTo = (arm: EvalArm): EvalArm[] => EVAL_ARMS.slice(0, EVAL_ARMS.indexOf(arm) + 1);

export const kindsOf = (arm: EvalArm): SearchKind[] => armsUpTo(arm).flatMap((each) => KINDS[each]);

/** The tools of an arm. Before `joins`, statements run without a verdict. */
export function armTools(
  arm: EvalArm,
  tools: readonly ContextTool[],
  { databases, connection }: { databases: EvalDatabases; connection: string },
): Tool[] {
  const names = new Set(armsUpTo(arm).flatMap((each) => ADDED[each]));
  const chosen = tools.filter(({ name }) => names.has(name)).map(asTool);
  return names.has("sql_query") ? chosen : [plainSql(databases, connection), ...chosen];
}

const asTool = (tool: ContextTool): Tool =>
  defineTool({
    name: tool.name,
    description: tool.description,
    schema: tool.input,
    execute: async (input, { signal }) => {
      const output = await tool.run(input, { signal, by: "evals" });
      return { markdown: answerForModel(tool, output) };
    },
  });

const SHOWN_ROWS = 100;

const plainSql = (databases: EvalDatabases, connection: string): Tool =>
  defineTool({
    name: "sql_query",
    description: `Runs one SQL statement that only reads, and returns the first ${SHOWN_ROWS} rows as JSON.`,
    schema: z.object({ sql: z.string().min(1).max(100_000) }),
    execute: async ({ sql }) => {
      const { rows, error } = await databases.sql(connection, sql);
      if (error !== undefined) throw new Error(error);
      return {
        markdown: JSON.stringify({
          columns: rows.columns,
          rows: rows.rows.slice(0, SHOWN_ROWS),
          ...(rows.rows.length > SHOWN_ROWS && { total_rows: rows.rows.length }),
        }),
      };
    },
  });

const LONGEST_SCHEMA = 60_000;

/** The schema as every arm gets it: names, types and declared keys. */
export function schemaText(tables: readonly Table[]): string {
  const lines = tables.map(({ schema, name, columns, primaryKey, foreignKeys }) => {
    const keys = [
      ...(primaryKey.length > 0 ? [`primary key (${primaryKey.join(", ")})`] : []),
      ...foreignKeys.map(
        (key) => `(${key.columns.join(", ")}) references ${key.to.schema}.${key.to.name} (${key.toColumns.join(", ")})`,
      ),
    ];
    const fields = columns.map((column) => `${column.name} ${column.type}`.trim());
    return `${schema}.${name} (${[...fields, ...keys].join("; ")})`;
  });
  const text = lines.join("\n");
  if (text.length <= LONGEST_SCHEMA) return text;
  return tables
    .map(({ schema, name }) => `${schema}.${name}`)
    .join("\n")
    .slice(0, LONGEST_SCHEMA);
}
