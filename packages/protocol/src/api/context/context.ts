import { z } from "zod";
import { count, listOf, pageOf, pageQuery } from "../page.ts";

const MAX_NODES = 500;

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
export type ContextOverview = z.infer<typeof overview>;

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
export type TableSummary = z.infer<typeof tableSummary>;

export const SEARCH_KINDS = ["page", "memory", "table", "column", "value"] as const;

const searchHit = z
  .object({ key: z.string(), kind: z.string(), title: z.string(), snippet: z.string(), score: z.number() })
  .meta({ id: "SearchHit" });
export type ContextHit = z.infer<typeof searchHit>;

const descriptions = z.object({ human: z.string().optional(), ai: z.string().optional(), db: z.string().optional() });

const column = z.object({
  name: z.string(),
  type: z.string(),
  nullable: z.boolean().optional(),
  gone: z.literal(true).optional(),
  descriptions: descriptions.optional(),
  profile: z
    .object({
      nulls: z.number().optional(),
      distinct: z.int().optional(),
      min: z.union([z.string(), z.number(), z.boolean()]).optional(),
      max: z.union([z.string(), z.number(), z.boolean()]).optional(),
      samples: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
    })
    .optional(),
});

const join = z.object({
  columns: z.array(z.string()),
  /** `schema.table` of the same connection. */
  to: z.string(),
  to_columns: z.array(z.string()),
  cardinality: z.enum(["many-to-one", "one-to-one"]),
  origin: z.enum(["declared", "data", "model", "human"]),
  /** From 0 to 1, in hundredths. */
  confidence: z.number().min(0).max(1),
  when: z.object({ column: z.string(), equals: z.string() }).optional(),
  why: z.string().optional(),
});

const tableDescription = z
  .object({
    descriptions: descriptions.optional(),
    unique_keys: z.array(z.array(z.string())).optional(),
    notes: z.string().optional(),
    gone: z.literal(true).optional(),
    connection: z.string(),
    schema: z.string(),
    table: z.string(),
    type: z.string(),
    description: z.string(),
    rows: z.number().nullable(),
    primary_key: z.array(z.string()),
    columns: z.array(column),
    joins: z.array(join),
    joined_from: z.array(
      join
        .pick({ columns: true, to_columns: true, cardinality: true, origin: true, confidence: true })
        .extend({ from: z.string() }),
    ),
  })
  .meta({ id: "TableDescription" });
export type TableDescription = z.infer<typeof tableDescription>;

const joinPath = z
  .object({
    connection: z.string(),
    steps: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        condition: z.string(),
        cardinality: z.enum(["many-to-one", "one-to-many", "one-to-one"]),
        confidence: z.number(),
      }),
    ),
    sql: z.string(),
    confidence: z.number(),
    warnings: z.array(z.string()),
  })
  .meta({ id: "JoinPath" });
export type JoinPath = z.infer<typeof joinPath>;

const sqlAnswer = z
  .object({
    columns: z.array(z.string()),
    rows: z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()]))),
    truncated: z.boolean(),
    estimate: z.object({ rows: z.number().optional(), bytes: z.number().optional(), plan: z.string() }).nullable(),
  })
  .meta({ id: "SqlAnswer" });
export type SqlAnswer = z.infer<typeof sqlAnswer>;

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
  to_columns: z.array(z.string()),
  cardinality: z.enum(["many-to-one", "one-to-one"]),
  origin: z.enum(["declared", "data", "model", "human"]),
  confidence: z.number(),
});

/** The size of a drawn table; `x` and `y` of a node are its upper left corner. */
const box = z.object({ width: z.number(), height: z.number() });

const graph = z
  .object({ nodes: z.array(node), edges: z.array(edge), truncated: z.boolean(), box })
  .meta({ id: "TableGraph" });
export type TableGraph = z.infer<typeof graph>;

const connection = { connection: z.string().min(1).optional() };

const name = z.string().min(1).max(500);

export const contextApi = {
  "context.retrieve": { response: overview },
  "context.search": {
    query: z.strictObject({
      query: z.string().min(1).max(2_000),
      kinds: z.array(z.enum(SEARCH_KINDS)).optional(),
      ...connection,
      limit: count().min(1).max(50).default(10),
    }),
    response: listOf(searchHit).extend({
      degraded: z.string().optional().meta({ description: "Why it was looked for by words alone." }),
    }),
  },
  "context.files.list": {
    query: z.strictObject({ ...pageQuery, prefix: z.string().max(500).default("") }),
    response: pageOf(z.object({ path: z.string() })),
  },
  "context.files.retrieve": {
    query: z.strictObject({ path: name }),
    response: z.object({ path: z.string(), text: z.string() }).meta({ id: "ContextFile" }),
  },
  "context.tables.list": { query: z.strictObject({ ...pageQuery, ...connection }), response: pageOf(tableSummary) },
  "context.tables.retrieve": { query: z.strictObject({ name, ...connection }), response: tableDescription },
  "context.joins.retrieve": { query: z.strictObject({ from: name, to: name, ...connection }), response: joinPath },
  "context.graph.retrieve": {
    query: z.strictObject({
      table: name.optional(),
      ...connection,
      depth: count().min(0).max(10).default(1),
      limit: count().min(1).max(MAX_NODES).default(100),
    }),
    response: graph,
  },
  "context.sql": {
    body: z
      .strictObject({
        connection: z.string().min(1),
        sql: z.string().min(1).max(100_000),
        max_rows: z.int().min(1).max(1_000).default(100),
        estimate_only: z.boolean().default(false),
      })
      .meta({ id: "SqlQuestion" }),
    response: sqlAnswer,
  },
};
