import { z } from "zod";
import {
  type ColumnEntry,
  columnEntry,
  joinEntry,
  sharedJoin,
  type TableFile,
  tableFile,
} from "../catalogue/table-file.ts";
import { described } from "../search/documents.ts";
import type { CatalogueReader } from "./catalogue-reader.ts";
import type { ContextTool } from "./context-tool.ts";
import { defineContextTool } from "./define-context-tool.ts";

const incoming = joinEntry.omit({ to: true, when: true, why: true }).extend({ from: z.string() });
/** Optional fields. */
const more = tableFile.pick({ descriptions: true, uniqueKeys: true, notes: true, gone: true });

export const tableDescription = more.extend({
  connection: z.string(),
  schema: z.string(),
  table: z.string(),
  type: z.string(),
  description: z.string(),
  rows: z.number().nullable(),
  primaryKey: z.array(z.string()),
  columns: z.array(columnEntry),
  joins: z.array(joinEntry),
  joinedFrom: z.array(incoming),
});

export const tableTool = (catalogue: CatalogueReader): ContextTool =>
  defineContextTool({
    name: "table_describe",
    title: "Describe a table",
    description:
      "Everything that is known of a table: what it holds, its columns with types, meaning and example values, its keys, and the tables it joins to and that join to it. Read it before you write SQL on the table. Takes `connection/schema.table`, `schema.table` or just the table's name.",
    input: z.object({
      table: z.string().min(1).max(500),
      connection: z.string().optional(),
      columns: z.array(z.string()).optional().describe("Only these columns; all where absent."),
    }),
    output: tableDescription,
    readOnly: true,
    run: async (input) => {
      const file = await catalogue.find(input.table.replace(/^column:(.*)\.[^.]+$/, "$1"), input.connection);
      const wanted = input.columns && new Set(input.columns.map((name) => name.toLowerCase()));
      const columns = file.columns.filter(({ name }) => !wanted || wanted.has(name.toLowerCase()));
      const joinedFrom = await joinsInto(catalogue, file);
      const { connection, schema, table, type, joins = [], primaryKey = [], rows = null } = file;
      const description = described(file.descriptions);
      const { descriptions, uniqueKeys, notes, gone } = file;
      const structured = {
        connection,
        schema,
        table,
        type,
        description,
        rows,
        primaryKey,
        columns,
        joins,
        joinedFrom,
        ...(descriptions && { descriptions }),
        ...(uniqueKeys && { uniqueKeys }),
        ...(notes !== undefined && { notes }),
        ...(gone && { gone }),
      };
      return { markdown: describe(file, columns, joinedFrom), structured };
    },
  });

type Incoming = z.output<typeof incoming>;

async function joinsInto(catalogue: CatalogueReader, { connection, schema, table }: TableFile): Promise<Incoming[]> {
  const target = `${schema}.${table}`;
  const tables = await catalogue.outlines(connection);
  return tables.flatMap((other) =>
    (other.joins ?? [])
      .filter(({ to }) => to === target)
      .map((join) => ({ ...sharedJoin(join), from: `${other.schema}.${other.table}` })),
  );
}

function describe(file: TableFile, columns: readonly ColumnEntry[], joinedFrom: readonly Incoming[]): string {
  const { connection, schema, table, type, rows, primaryKey = [], uniqueKeys = [], joins = [] } = file;
  const facts = [
    `${type === "view" ? "View" : "Table"} of the connection \`${connection}\``,
    ...(rows === undefined ? [] : [`about ${rows.toLocaleString("en")} rows`]),
    ...(primaryKey.length === 0 ? [] : [`primary key (${primaryKey.join(", ")})`]),
    ...uniqueKeys.map((key) => `unique (${key.join(", ")})`),
  ];
  const onePerLine = (lines: readonly string[]) => lines.join("\n");
  return [
    `# ${schema}.${table}`,
    described(file.descriptions),
    `${facts.join(", ")}.`,
    onePerLine(["| column | type | meaning | examples |", "| --- | --- | --- | --- |", ...columns.map(row)]),
    joins.length > 0 &&
      onePerLine([
        "Joins:",
        ...joins.map((join) => {
          const when = join.when ? `, only where ${join.when.column} = '${join.when.equals}'` : "";
          const sure =
            join.origin === "declared" || join.origin === "human" ? join.origin : `confidence ${join.confidence}`;
          return `- (${join.columns.join(", ")}) → ${join.to} (${join.toColumns.join(", ")}), ${join.cardinality}${when}, ${sure}`;
        }),
      ]),
    joinedFrom.length > 0 &&
      onePerLine([
        "Joined from:",
        ...joinedFrom.map(
          ({ from, columns, toColumns }) => `- ${from} (${columns.join(", ")}) → (${toColumns.join(", ")})`,
        ),
      ]),
    file.notes,
  ]
    .filter(Boolean)
    .join("\n\n");
}

function row({ name, type, nullable, descriptions, profile }: ColumnEntry): string {
  const samples = (profile?.samples ?? [])
    .slice(0, 4)
    .map((value) => JSON.stringify(value))
    .join(", ");
  return `| ${[name, `${type}${nullable === false ? " not null" : ""}`, described(descriptions), samples].map(cell).join(" | ")} |`;
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").slice(0, 300);
