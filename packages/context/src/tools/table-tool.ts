import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { isStale } from "../catalogue/stale-description.ts";
import { columnEntry, joinEntry, sharedJoin, type TableFile, tableFile } from "../catalogue/table-file.ts";
import { tableKey } from "../catalogue/table-path.ts";
import { described } from "../search/documents.ts";
import type { Metrics } from "../metrics/metrics-service.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { type ContextTool, defineContextTool } from "../context-tool.ts";
import { tableMarkdown } from "./table-markdown.ts";

const incoming = joinEntry.omit({ to: true, evidence: true, when: true, why: true }).extend({ from: z.string() });
/** Optional fields, taken from the file as they are. */
const more = tableFile.pick({
  descriptions: true,
  rowsAre: true,
  profiled: true,
  uniqueKeys: true,
  verifiedKeys: true,
  checks: true,
  notes: true,
  gone: true,
});
const column = columnEntry.extend({
  stale: z.literal(true).optional().describe("The model described the column before it was renamed or changed."),
});

export const tableDescription = more.extend({
  connection: z.string(),
  schema: z.string(),
  table: z.string(),
  type: z.string(),
  description: z.string(),
  rows: z.number().nullable(),
  primaryKey: z.array(z.string()),
  columns: z.array(column),
  joins: z.array(joinEntry),
  joinedFrom: z.array(incoming),
  pages: z.array(z.object({ key: z.string(), title: z.string(), summary: z.string() })),
  metrics: z.array(z.object({ name: z.string(), description: z.string() })),
});

const MOST_TABLES = 20;

export const tableTool = (catalogue: CatalogueReader, metrics?: Metrics): ContextTool =>
  defineContextTool({
    name: "table_describe",
    title: "Describe tables",
    description: `Everything that is known of a table, or of up to ${MOST_TABLES}: what it holds, its columns with types, meaning, nulls, distinct counts, ranges and values, its keys and constraints, the tables it joins to and that join to it, the wiki pages about it, and the metrics computed from it. Read it before you write SQL on the table, and the pages too: they have the agreed definitions. Takes \`connection/schema.table\`, \`schema.table\` or just the table's name. Counts with ≈ are not exact. A meaning marked stale was written before the column changed.`,
    input: z.object({
      table: z.string().min(1).max(500).optional(),
      tables: z.array(z.string().min(1).max(500)).min(1).max(MOST_TABLES).optional().describe("Several at once."),
      connection: z.string().optional(),
      columns: z.array(z.string()).optional().describe("Only these columns; all where absent."),
    }),
    output: tableDescription.partial().extend({
      tables: z.array(tableDescription).optional().describe("Where several tables were asked for."),
      failed: z.array(z.object({ table: z.string(), message: z.string() })).optional(),
    }),
    readOnly: true,
    run: async ({ table, tables, connection, columns }) => {
      const describe = (name: string) => describeTable(catalogue, metrics, { name, connection, columns });
      if ((table === undefined) === (tables === undefined)) {
        throw new RequestError("invalid_request", "Give either `table` or `tables`.");
      }
      if (table !== undefined) return describe(table);
      const found: Described[] = [];
      const failed: { table: string; message: string }[] = [];
      for (const name of new Set(tables)) {
        try {
          found.push(await describe(name));
        } catch (error) {
          if (!(error instanceof RequestError)) throw error;
          failed.push({ table: name, message: [error.message, error.fix].filter(Boolean).join(" ") });
        }
      }
      const [first] = failed;
      if (first && found.length === 0)
        throw new RequestError("not_found", failed.map((each) => each.message).join(" "));
      return {
        markdown: [...found.map(({ markdown }) => markdown), ...failed.map(({ message }) => message)].join("\n\n"),
        structured: { tables: found.map(({ structured }) => structured), ...(first && { failed }) },
      };
    },
  });

interface Described {
  markdown: string;
  structured: z.output<typeof tableDescription>;
}

async function describeTable(
  catalogue: CatalogueReader,
  metrics: Metrics | undefined,
  asked: { name: string; connection: string | undefined; columns: readonly string[] | undefined },
): Promise<Described> {
  const file = await catalogue.find(tableOf(asked.name), asked.connection);
  const wanted = asked.columns && new Set(asked.columns.map((name) => name.toLowerCase()));
  const columns = file.columns.filter(({ name }) => !wanted || wanted.has(name.toLowerCase()));
  const details = {
    file,
    columns,
    joinedFrom: await joinsInto(catalogue, file),
    pages: await pagesAbout(catalogue, file),
    metrics: await metricsOf(metrics, file),
  };
  const { connection, schema, table, type, joins = [], primaryKey = [], rows = null } = file;
  return {
    markdown: tableMarkdown(details),
    structured: {
      connection,
      schema,
      table,
      type,
      description: described(file.descriptions),
      rows,
      primaryKey,
      columns: columns.map((each) => ({ ...each, ...(isStale(each) && { stale: true as const }) })),
      joins,
      joinedFrom: details.joinedFrom,
      pages: details.pages,
      metrics: details.metrics,
      ...more.parse(file),
    },
  };
}

/** A key of `context_search`: a column or its values lead to their table. */
const tableOf = (key: string): string => key.replace(/^(?:column|value):(.*)\.[^.]+$/, "$1");

async function joinsInto(catalogue: CatalogueReader, { connection, schema, table }: TableFile) {
  const target = `${schema}.${table}`;
  const tables = await catalogue.outlines(connection);
  return tables.flatMap((other) =>
    (other.joins ?? [])
      .filter(({ to }) => to === target)
      .map((join) => ({ ...sharedJoin(join), from: `${other.schema}.${other.table}` })),
  );
}

async function metricsOf(metrics: Metrics | undefined, { connection, schema, table }: TableFile) {
  const found = (await metrics?.ofTable(connection, `${schema}.${table}`)) ?? [];
  return found.map(({ name, label, description }) => ({ name, description: description ?? label ?? "" }));
}

async function pagesAbout(catalogue: CatalogueReader, file: TableFile) {
  const key = tableKey(file).toLowerCase();
  const pages = (await catalogue.pages()).filter(({ refs }) => refs.some((ref) => ref.toLowerCase() === key));
  return pages.map(({ key, title, summary }) => ({ key, title, summary }));
}
