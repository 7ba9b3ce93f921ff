import type { described, TableOutline } from "@tandem/context";
import { type ContextHit, RequestError, type TableSummary } from "@tandem/protocol";
import { askTool, contextOf, loadContext } from "../../context-of.ts";
import { pageThrough } from "../../request/page-through.ts";
import { jsonRoute, type Route } from "../../route.ts";
import { wireEncoder } from "../../wire-encoder.ts";

const encodeTable = wireEncoder(async () => (await loadContext()).tableDescription);
const encodeJoinPath = wireEncoder(async () => (await loadContext()).foundPath);
const encodeValues = wireEncoder(async () => (await loadContext()).foundValues);
const encodeAnswer = wireEncoder(async () => (await loadContext()).queryAnswer);

/** The context, and queries of its databases. */
export const contextRoutes: Route[] = [
  jsonRoute("context.retrieve", {
    scope: "read",
    at: "context",
    summary: "Summarize the context: counts, connections, sources, and files that cannot be read",
    handle: async (call) => {
      const { context, connections, sources, jobRunner, metrics } = contextOf(call);
      const [paths, { problems }, metric] = await Promise.all([
        context.folder.list(),
        context.search.sync(),
        metrics.list(),
      ]);
      const count = (prefix: string) => paths.filter((path) => path.startsWith(prefix)).length;
      return {
        id: context.id,
        folder: context.folder.path,
        counts: {
          table: count("catalogue/"),
          page: count("wiki/"),
          memory: count("memory/"),
          metric: metric.length,
        },
        connections: connections.map((each) => ({ ...each, tables: count(`catalogue/${each.name}/`) })),
        sources: [...sources],
        job_kinds: jobRunner.kinds,
        problems: [...problems],
      };
    },
  }),
  jsonRoute("context.search", {
    scope: "read",
    at: "context",
    summary: "Search pages, memories, tables, columns and sampled values, best match first",
    handle: async (call) => {
      // A search over everything, as in the page's palette, must not fail because the server has no context.
      if (!call.context) return { data: [], degraded: "This server's project has no context." };
      const { hits, degraded } = await askTool(call, "context_search", call.query);
      return { data: hits as ContextHit[], ...(typeof degraded === "string" && { degraded }) };
    },
  }),
  jsonRoute("context.files.list", {
    scope: "read",
    at: "context",
    summary: "List the files of the context by path",
    handle: async (call) => {
      const paths = await contextOf(call).context.folder.list(call.query.prefix);
      const { data, next_page } = pageThrough(
        paths.map((id) => ({ id })),
        call.query,
      );
      return { data: data.map(({ id }) => ({ path: id })), next_page };
    },
  }),
  jsonRoute("context.files.retrieve", {
    scope: "read",
    at: "context",
    summary: "Read a file of the context",
    handle: async (call) => {
      const { path } = call.query;
      const text = await contextOf(call).context.folder.read(path);
      if (text === undefined) throw new RequestError("not_found", `There is no file ${path} in the context.`);
      return { path, text };
    },
  }),
  jsonRoute("context.files.history", {
    scope: "read",
    at: "context",
    summary: "List the commits that changed a file of the context, newest first",
    handle: async (call) => {
      const { path, limit } = call.query;
      return { data: await contextOf(call).context.folder.log(limit, path) };
    },
  }),
  jsonRoute("context.tables.list", {
    scope: "read",
    at: "context",
    summary: "List the tables of the catalogue",
    handle: async (call) => {
      const { catalogue } = contextOf(call);
      const library = await loadContext();
      const names = call.query.connection === undefined ? await catalogue.connections() : [call.query.connection];
      const files = (await Promise.all(names.map((each) => catalogue.outlines(each)))).flat();
      return pageThrough(
        files.map((file) => summarise(file, library.described)),
        call.query,
      );
    },
  }),
  jsonRoute("context.tables.retrieve", {
    scope: "read",
    at: "context",
    summary: "Describe a table: columns, keys, and joins to and from it",
    handle: async (call) => {
      const { name: table, connection } = call.query;
      return encodeTable(await askTool(call, "table_describe", { table, connection }));
    },
  }),
  jsonRoute("context.joins.retrieve", {
    scope: "read",
    at: "context",
    summary: "Find how two tables join: the condition of each step, inflated and dropped rows, and choices",
    handle: async (call) => encodeJoinPath(await askTool(call, "join_path", call.query)),
  }),
  jsonRoute("context.values.find", {
    scope: "read",
    at: "context",
    summary: "Find the columns that hold values, ignoring case and typos",
    handle: async (call) => encodeValues(await askTool(call, "value_lookup", call.query)),
  }),
  jsonRoute("context.graph.retrieve", {
    scope: "read",
    at: "context",
    summary: "Show the tables around one table, or those of a connection, and the joins between them",
    handle: async (call) => {
      const { catalogue } = contextOf(call);
      const { BOX, tableGraph } = await loadContext();
      const { nodes, edges, truncated } = await tableGraph(catalogue, call.query);
      return {
        nodes: nodes.map(({ rowsAre, ...node }) => ({ ...node, ...(rowsAre && { rows_are: rowsAre }) })),
        edges: edges.map(({ toColumns, ...edge }) => ({ ...edge, to_columns: toColumns })),
        truncated,
        box: BOX,
      };
    },
  }),
  jsonRoute("context.sql", {
    // Read-only in spite of POST: a query may be too long for a URL.
    scope: "read",
    at: "context",
    summary: "Run one read-only statement on a database",
    handle: async (call) => {
      const { connection, sql, max_rows: maxRows, estimate_only: estimateOnly } = call.body;
      const started = performance.now();
      const { auditStatement } = await loadContext();
      const answer = await auditStatement(
        { connection, sql, estimateOnly },
        (details) => call.engine.audit.note({ kind: "sql.run", actor: call.token.name, details }),
        async () => encodeAnswer(await askTool(call, "sql_query", { connection, sql, maxRows, estimateOnly })),
      );
      return { ...answer, elapsed_ms: Math.round(performance.now() - started) };
    },
  }),
];

function summarise(file: TableOutline, describe: typeof described): TableSummary {
  const { connection, schema, table, type, rows = null, rowsAre, columnCount, joins = [] } = file;
  return {
    id: `${connection}/${schema}.${table}`,
    connection,
    schema,
    table,
    type,
    rows,
    ...(rowsAre && { rows_are: rowsAre }),
    description: describe(file.descriptions),
    columns: columnCount,
    joins: joins.length,
  };
}
