import {
  BOX,
  described,
  foundPath,
  queryAnswer,
  SEARCH_KINDS,
  searchHit,
  tableDescription,
  tableGraph,
  type TableOutline,
} from "@tandem/context";
import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { askTool, contextOf } from "../context-of.ts";
import { pageThrough } from "../page-through.ts";
import { jsonRoute, type Route } from "../route.ts";
import { listOf, pageOf, pageQuery } from "../schemas/page.ts";
import { wireForm } from "../schemas/wire-form.ts";

const MOST_NODES = 500;

const overview = z
  .object({
    id: z.string(),
    folder: z.string(),
    counts: z.object({ table: z.int(), page: z.int(), memory: z.int() }),
    connections: z.array(z.object({ name: z.string(), driver: z.string(), tables: z.int() })),
    sources: z.array(z.object({ name: z.string(), type: z.string() })),
    job_kinds: z.array(z.string()),
    problems: z.array(z.object({ path: z.string(), message: z.string() })),
  })
  .meta({
    id: "Context",
    description: "Reviewed knowledge. `problems` are files that cannot be read as what they are.",
  });

const tableSummary = z
  .object({
    id: z.string(),
    connection: z.string(),
    schema: z.string(),
    table: z.string(),
    type: z.enum(["table", "view"]),
    description: z.string(),
    rows: z.int().nullable(),
    columns: z.int(),
    joins: z.int(),
  })
  .meta({ id: "TableSummary" });

const description = wireForm(tableDescription);
const joinPath = wireForm(foundPath);
const answer = wireForm(queryAnswer);

const node = z.object({
  id: z.string(),
  connection: z.string(),
  schema: z.string(),
  table: z.string(),
  type: z.enum(["table", "view"]),
  description: z.string(),
  rows: z.int().nullable(),
  distance: z.int(),
  x: z.number(),
  y: z.number(),
});
const edge = z.object({
  from: z.string(),
  to: z.string(),
  columns: z.array(z.string()),
  toColumns: z.array(z.string()),
  cardinality: z.enum(["many-to-one", "one-to-one"]),
  origin: z.enum(["declared", "data", "model", "human"]),
  confidence: z.number(),
});
const box = z
  .object({ width: z.number(), height: z.number() })
  .meta({ description: "How large a table is drawn; `x` and `y` of a node are its upper left corner." });
const graph = wireForm(z.object({ nodes: z.array(node), edges: z.array(edge), truncated: z.boolean(), box }));

const connection = { connection: z.string().min(1).optional() };
const name = z.string().min(1).max(500);

/** What is known, and asking the databases that it is known of. */
export const contextRoutes: Route[] = [
  jsonRoute({
    name: "context.retrieve",
    method: "GET",
    path: "/v1/context",
    scope: "read",
    at: "context",
    extension: true,
    summary: "What is known here: counts, connections, sources, and files that cannot be read",
    response: overview,
    handle: async (call) => {
      const { context, connections, sources, desk } = contextOf(call);
      const [paths, { problems }] = await Promise.all([context.folder.list(), context.search.sync()]);
      const count = (prefix: string) => paths.filter((path) => path.startsWith(prefix)).length;
      return {
        id: context.id,
        folder: context.folder.path,
        counts: { table: count("catalogue/"), page: count("wiki/"), memory: count("memory/") },
        connections: connections.map((each) => ({ ...each, tables: count(`catalogue/${each.name}/`) })),
        sources: [...sources],
        job_kinds: desk.kinds,
        problems: [...problems],
      };
    },
  }),
  jsonRoute({
    name: "context.search",
    method: "GET",
    path: "/v1/context/search",
    scope: "read",
    at: "context",
    extension: true,
    summary: "Search pages, memories, tables, columns and sampled values, the best first",
    query: z.strictObject({
      query: z.string().min(1).max(2_000),
      kinds: z.array(z.enum(SEARCH_KINDS)).optional(),
      ...connection,
      limit: z.coerce.number().int().min(1).max(50).default(10),
    }),
    response: listOf(searchHit.meta({ id: "SearchHit" })).extend({
      degraded: z.string().optional().meta({ description: "Why it was looked for by words alone." }),
    }),
    handle: async (call) => {
      // Who looks for something everywhere, as the page's palette does, finds nothing here, and that is no error.
      if (!call.context) return { data: [], degraded: "This server's project has no context." };
      const { hits, degraded } = await askTool(call, "context_search", call.query);
      return {
        data: hits as z.output<typeof searchHit>[],
        ...(typeof degraded === "string" && { degraded }),
      };
    },
  }),
  jsonRoute({
    name: "context.files.list",
    method: "GET",
    path: "/v1/context/files",
    scope: "read",
    at: "context",
    extension: true,
    summary: "List the files of the context, by their paths",
    query: z.strictObject({ ...pageQuery, prefix: z.string().max(500).default("") }),
    response: pageOf(z.object({ path: z.string() })),
    handle: async (call) => {
      const paths = await contextOf(call).context.folder.list(call.query.prefix);
      const { data, next_page } = pageThrough(
        paths.map((id) => ({ id })),
        call.query,
      );
      return { data: data.map(({ id }) => ({ path: id })), next_page };
    },
  }),
  jsonRoute({
    name: "context.files.retrieve",
    method: "GET",
    path: "/v1/context/file",
    scope: "read",
    at: "context",
    extension: true,
    summary: "Read a file of the context",
    query: z.strictObject({ path: name }),
    response: z.object({ path: z.string(), text: z.string() }).meta({ id: "ContextFile" }),
    handle: async (call) => {
      const { path } = call.query;
      const text = await contextOf(call).context.folder.read(path);
      if (text === undefined) throw new RequestError("not_found", `There is no file ${path} in the context.`);
      return { path, text };
    },
  }),
  jsonRoute({
    name: "context.tables.list",
    method: "GET",
    path: "/v1/context/tables",
    scope: "read",
    at: "context",
    extension: true,
    summary: "List the tables of the catalogue",
    query: z.strictObject({ ...pageQuery, ...connection }),
    response: pageOf(tableSummary),
    handle: async (call) => {
      const { catalogue } = contextOf(call);
      const names = call.query.connection === undefined ? await catalogue.connections() : [call.query.connection];
      const files = (await Promise.all(names.map((each) => catalogue.outlines(each)))).flat();
      return pageThrough(files.map(summarise), call.query);
    },
  }),
  jsonRoute({
    name: "context.tables.retrieve",
    method: "GET",
    path: "/v1/context/table",
    scope: "read",
    at: "context",
    extension: true,
    summary: "Describe a table: columns, keys, and joins to and from it",
    query: z.strictObject({ name, ...connection }),
    response: description.schema.meta({ id: "TableDescription" }),
    handle: async (call) => {
      const { name: table, connection } = call.query;
      return description.encode(await askTool(call, "table_describe", { table, connection }));
    },
  }),
  jsonRoute({
    name: "context.joins.retrieve",
    method: "GET",
    path: "/v1/context/joins",
    scope: "read",
    at: "context",
    extension: true,
    summary: "Find how two tables join: each step with its condition, and warnings where rows are multiplied",
    query: z.strictObject({ from: name, to: name, ...connection }),
    response: joinPath.schema.meta({ id: "JoinPath" }),
    handle: async (call) => joinPath.encode(await askTool(call, "join_path", call.query)),
  }),
  jsonRoute({
    name: "context.graph.retrieve",
    method: "GET",
    path: "/v1/context/graph",
    scope: "read",
    at: "context",
    extension: true,
    summary: "The tables around one, or those of a connection, and the joins between them",
    query: z.strictObject({
      table: name.optional(),
      ...connection,
      depth: z.coerce.number().int().min(0).max(10).default(1),
      limit: z.coerce.number().int().min(1).max(MOST_NODES).default(100),
    }),
    response: graph.schema.meta({ id: "TableGraph" }),
    handle: async (call) => graph.encode({ ...(await tableGraph(contextOf(call).catalogue, call.query)), box: BOX }),
  }),
  jsonRoute({
    name: "context.sql",
    method: "POST",
    path: "/v1/context/sql",
    // It only reads, whatever is asked: the body is there for what would be too long for an address.
    scope: "read",
    at: "context",
    extension: true,
    summary: "Ask a database with one statement that only reads",
    body: z
      .strictObject({
        connection: z.string().min(1),
        sql: z.string().min(1).max(100_000),
        max_rows: z.int().min(1).max(1_000).default(100),
        estimate_only: z.boolean().default(false),
      })
      .meta({ id: "SqlQuestion" }),
    response: answer.schema.meta({ id: "SqlAnswer" }),
    handle: async (call) => {
      const { connection, sql, max_rows: maxRows, estimate_only: estimateOnly } = call.body;
      return answer.encode(await askTool(call, "sql_query", { connection, sql, maxRows, estimateOnly }));
    },
  }),
];

function summarise(file: TableOutline): z.output<typeof tableSummary> {
  const { connection, schema, table, type, rows = null, columnCount, joins = [] } = file;
  return {
    id: `${connection}/${schema}.${table}`,
    ...{ connection, schema, table, type, rows },
    description: described(file.descriptions),
    columns: columnCount,
    joins: joins.length,
  };
}
