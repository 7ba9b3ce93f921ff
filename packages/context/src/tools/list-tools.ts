import type { Dialect } from "@tandem/connectors";
import { z } from "zod";
import type { TableOutline } from "../catalogue/table-outline.ts";
import { tableFile } from "../catalogue/table-file.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import { described } from "../search/documents.ts";
import { foldValue } from "../values/match-value.ts";
import type { Metrics } from "../metrics/metrics-service.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { type ContextTool, defineContextTool } from "../context-tool.ts";
import { shownCount } from "./shown-count.ts";

interface ListParts {
  folder: ContextFolder;
  catalogue: CatalogueReader;
  dialects: ReadonlyMap<string, Dialect>;
  metrics: Metrics | undefined;
}

const connection = z.object({
  name: z.string(),
  dialect: z.string().nullable().describe("Null if it is in the catalogue but not configured: it cannot be queried."),
  tables: z.int(),
  views: z.int(),
});

const listedTable = z.object({
  table: z.string().describe("connection/schema.table"),
  type: z.enum(["table", "view"]),
  description: z.string(),
  rows: z.int().nullable(),
  rowsAre: tableFile.shape.rowsAre,
  columns: z.int(),
  joins: z.int(),
});

const LONGEST_LINE = 160;
const CENTRAL_TABLES = 10;
const SHOWN_PAGES = 50;
const SHOWN_METRICS = 50;

/** Tools that list the content of the context: an overview, the connections and their tables. */
export const listTools = (parts: ListParts): ContextTool[] => [
  overviewTool(parts),
  connectionTool(parts),
  tablesTool(parts),
];

const overviewTool = ({ folder, catalogue, dialects, metrics }: ListParts): ContextTool =>
  defineContextTool({
    name: "context_overview",
    title: "Overview of the context",
    description:
      "An overview of the context: connections with their number of tables, the tables that most others join to, the metrics, the wiki pages with their summaries, and the number of memories. Use it once at the start; for a question, begin with `context_search`.",
    input: z.object({}),
    output: z.object({
      connections: z.array(connection),
      centralTables: z.array(listedTable),
      pages: z.array(z.object({ key: z.string(), title: z.string(), summary: z.string() })),
      metrics: z.array(z.object({ name: z.string(), connection: z.string(), description: z.string() })),
      counts: z.object({ tables: z.int(), pages: z.int(), memories: z.int(), metrics: z.int() }),
    }),
    readOnly: true,
    run: async () => {
      const connections = await listConnections(catalogue, dialects);
      const outlines = (await Promise.all(connections.map(({ name }) => catalogue.outlines(name)))).flat();
      const pages = await catalogue.pages();
      const memories = (await folder.list("memory/")).length;
      const defined = ((await metrics?.list()) ?? []).filter(({ broken }) => !broken);
      const central = centralTables(outlines);
      const shown = pages.slice(0, SHOWN_PAGES).map(({ key, title, summary }) => ({ key, title, summary }));
      const shownMetrics = defined.slice(0, SHOWN_METRICS).map(({ name, connection: at, label, description }) => ({
        name,
        connection: at,
        description: description ?? label ?? "",
      }));
      return {
        markdown: [
          `${outlines.length} tables, ${defined.length} metrics, ${pages.length} wiki pages, ${memories} memories.`,
          section("Connections", connections.map(connectionLine)),
          section("Metrics (compute them with metric_query)", shownMetrics.map(metricLine)),
          section("Tables with the most joins", central.map(tableLine)),
          section(
            pages.length > shown.length ? `The first ${shown.length} of ${pages.length} pages` : "Pages",
            shown.map(({ key, title, summary }) => `page:${key} ${title}${summary ? `: ${summary}` : ""}`),
          ),
        ]
          .filter(Boolean)
          .join("\n\n"),
        structured: {
          connections,
          centralTables: central,
          pages: shown,
          metrics: shownMetrics,
          counts: { tables: outlines.length, pages: pages.length, memories, metrics: defined.length },
        },
      };
    },
  });

const connectionTool = ({ catalogue, dialects }: ListParts): ContextTool =>
  defineContextTool({
    name: "connection_list",
    title: "List the connections",
    description:
      "The databases: their names for other tools, their SQL dialect, and how many tables are known of each.",
    input: z.object({}),
    output: z.object({ connections: z.array(connection) }),
    readOnly: true,
    run: async () => {
      const connections = await listConnections(catalogue, dialects);
      const lines = connections.map((each) => `- ${connectionLine(each)}`);
      return { markdown: lines.join("\n") || "There are no connections.", structured: { connections } };
    },
  });

const tablesTool = ({ catalogue }: ListParts): ContextTool =>
  defineContextTool({
    name: "table_list",
    title: "List tables",
    description:
      "Tables by name, with a line about each. Use it to see what a connection has; to find the tables for a question, use `context_search`. Pass `next` as `after` to continue.",
    input: z.object({
      connection: z.string().optional(),
      schema: z.string().optional(),
      filter: z.string().max(200).optional().describe("Only tables with all these words in their name or description."),
      limit: z.int().min(1).max(200).default(50),
      after: z.string().max(1_000).optional().describe("`next` of the page before."),
    }),
    output: z.object({ tables: z.array(listedTable), total: z.int(), next: z.string().nullable() }),
    readOnly: true,
    run: async ({ connection: only, schema, filter = "", limit, after = "" }) => {
      const names = only === undefined ? await catalogue.connections() : [only];
      const outlines = (await Promise.all(names.map((name) => catalogue.outlines(name)))).flat();
      const words = foldValue(filter).split(" ").filter(Boolean);
      const all = outlines
        .filter((each) => !each.gone && (schema === undefined || each.schema === schema))
        .map(listed)
        .filter(({ table, description }) => {
          const text = foldValue(`${table} ${description}`);
          return words.every((word) => text.includes(word));
        })
        .toSorted((a, b) => (a.table < b.table ? -1 : 1));
      const rest = all.filter(({ table }) => table > after);
      const tables = rest.slice(0, limit);
      const next = rest.length > limit ? tables.at(-1)!.table : null;
      const lines = tables.map((each) => `- ${tableLine(each)}`);
      if (next !== null) lines.push(`${rest.length - limit} more: continue with after ${JSON.stringify(next)}.`);
      return { markdown: lines.join("\n") || "No tables.", structured: { tables, total: all.length, next } };
    },
  });

async function listConnections(catalogue: CatalogueReader, dialects: ReadonlyMap<string, Dialect>) {
  const names = [...new Set([...dialects.keys(), ...(await catalogue.connections())])];
  return Promise.all(
    names.map(async (name) => {
      const outlines = (await catalogue.outlines(name)).filter(({ gone }) => !gone);
      const views = outlines.filter(({ type }) => type === "view").length;
      return { name, dialect: dialects.get(name) ?? null, tables: outlines.length - views, views };
    }),
  );
}

function centralTables(outlines: readonly TableOutline[]): z.output<typeof listedTable>[] {
  const references = new Map<string, number>();
  for (const { connection: name, joins = [] } of outlines) {
    for (const { to } of joins) references.set(`${name}/${to}`, (references.get(`${name}/${to}`) ?? 0) + 1);
  }
  return outlines
    .map(listed)
    .map((each) => ({ each, joins: each.joins + (references.get(each.table) ?? 0) }))
    .filter(({ joins }) => joins > 0)
    .toSorted((a, b) => b.joins - a.joins)
    .slice(0, CENTRAL_TABLES)
    .map(({ each }) => each);
}

function listed(outline: TableOutline): z.output<typeof listedTable> {
  const { connection: name, schema, table, type, rows = null, rowsAre, columnCount, joins = [] } = outline;
  const text = described(outline.descriptions).replaceAll(/\s+/g, " ");
  const description = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE - 1)}…` : text;
  return {
    table: `${name}/${schema}.${table}`,
    type,
    description,
    rows,
    rowsAre,
    columns: columnCount,
    joins: joins.length,
  };
}

const connectionLine = ({ name, dialect, tables, views }: z.output<typeof connection>): string =>
  `${name} (${dialect ?? "not configured here"}): ${tables} tables${views > 0 ? `, ${views} views` : ""}`;

function tableLine({ table, type, description, rows, rowsAre, columns }: z.output<typeof listedTable>): string {
  const figures = [
    ...(type === "view" ? ["view"] : []),
    ...(rows === null ? [] : [`${shownCount(rows, rowsAre)} rows`]),
    `${columns} columns`,
  ];
  return `${table} (${figures.join(", ")})${description ? `: ${description}` : ""}`;
}

const metricLine = ({ name, description }: { name: string; description: string }): string =>
  `${name}${description ? `: ${description.replaceAll(/\s+/g, " ")}` : ""}`;

const section = (title: string, lines: readonly string[]): string | false =>
  lines.length > 0 && [`${title}:`, ...lines.map((line) => `- ${line}`)].join("\n");
