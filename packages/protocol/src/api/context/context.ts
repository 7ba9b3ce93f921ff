import { z } from "zod";
import { count, listOf, pageOf, pageQuery } from "../page.ts";
import { statementVerdict } from "./verdict.ts";

const MAX_NODES = 5_000;
const MAX_PLACED = 500;

const overview = z
  .object({
    id: z.string(),
    folder: z.string(),
    counts: z.object({ table: z.int(), page: z.int(), memory: z.int(), metric: z.int() }),
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

const exactness = z
  .enum(["exact", "rounded", "estimated"])
  .meta({ description: "`rounded` from an exact count; `estimated` from a sample or by the database." });
const coverage = z.enum(["all", "sample"]).meta({ description: "Read from all rows, or from a sample of them." });

const tableSummary = z
  .object({
    id: z.string(),
    connection: z.string(),
    schema: z.string(),
    table: z.string(),
    type: z.enum(["table", "view"]),
    description: z.string(),
    rows: z.int().nullable(),
    rows_are: exactness.optional(),
    columns: z.int(),
    joins: z.int(),
  })
  .meta({ id: "TableSummary" });
export type TableSummary = z.infer<typeof tableSummary>;

/** `chunk`: passages of documents that no person has reviewed. */
export const SEARCH_KINDS = ["page", "metric", "memory", "table", "column", "value", "chunk"] as const;

const foundAlso = z.object({ key: z.string(), kind: z.string(), title: z.string(), snippet: z.string() });
export const searchHit = foundAlso
  .extend({
    score: z.number(),
    unreviewed: z
      .object({ source: z.string(), path: z.string() })
      .optional()
      .meta({ description: "Present if no person has reviewed the text: the document that it comes from." }),
    also: z.array(foundAlso).optional().meta({ description: "Further hits in the same page, table or document." }),
  })
  .meta({ id: "SearchHit" });
export type ContextHit = z.infer<typeof searchHit>;

const descriptions = z.object({
  human: z.string().optional(),
  ai: z.string().optional(),
  ai_for: z.string().optional().meta({ description: "The name and type of the column that the model described." }),
  db: z.string().optional(),
});

const column = z.object({
  name: z.string(),
  type: z.string(),
  nullable: z.boolean().optional(),
  labels: z.array(z.string()).optional().meta({ description: "The labels of an enum or set." }),
  gone: z.literal(true).optional(),
  descriptions: descriptions.optional(),
  stale: z
    .literal(true)
    .optional()
    .meta({ description: "The model described the column before it was renamed or changed." }),
  profile: z
    .object({
      nulls: z.number().optional(),
      distinct: z.int().optional(),
      distinct_is: exactness.optional(),
      min: z.union([z.string(), z.number(), z.boolean()]).optional(),
      max: z.union([z.string(), z.number(), z.boolean()]).optional(),
      samples: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
      samples_are: z
        .enum(["all", "sample", "examples"])
        .optional()
        .meta({ description: "All values of the column, all in a sample of its rows, or a few examples." }),
      stored: z
        .enum(["shapes", "none"])
        .optional()
        .meta({ description: "Values are withheld: only their form, or only counts, are stored." }),
      personal: z.string().optional().meta({ description: "The kind of personal data that was detected." }),
      shapes: z
        .array(z.string())
        .optional()
        .meta({ description: "Forms of the values: `A` a capital letter, `a` a letter, `9` a digit." }),
      lengths: z.array(z.int()).optional().meta({ description: "Shortest and longest value." }),
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
  evidence: z
    .object({ compared: z.int(), matched: z.int(), of: coverage })
    .optional()
    .meta({ description: "Distinct values that were looked for, and how many were found." }),
  when: z.object({ column: z.string(), equals: z.string() }).optional(),
  why: z.string().optional(),
});

const tableDescription = z
  .object({
    descriptions: descriptions.optional(),
    rows_are: exactness.optional(),
    profiled: coverage.optional(),
    unique_keys: z.array(z.array(z.string())).optional(),
    verified_keys: z
      .array(z.object({ columns: z.array(z.string()), of: coverage }))
      .optional()
      .meta({ description: "Columns that the data shows to be unique and without nulls; no key is declared." }),
    checks: z.array(z.string()).optional().meta({ description: "Check constraints, as SQL conditions." }),
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
    pages: z
      .array(z.object({ key: z.string(), title: z.string(), summary: z.string() }))
      .optional()
      .meta({ description: "Wiki pages that refer to the table." }),
    metrics: z
      .array(z.object({ name: z.string(), description: z.string() }))
      .optional()
      .meta({ description: "Metrics that are computed from the table." }),
    joined_from: z.array(
      join
        .pick({ columns: true, to_columns: true, cardinality: true, origin: true, confidence: true })
        .extend({ from: z.string() }),
    ),
  })
  .meta({ id: "TableDescription" });
export type TableDescription = z.infer<typeof tableDescription>;

const joinStep = z.object({
  from: z.string(),
  to: z.string(),
  condition: z.string(),
  cardinality: z.enum(["many-to-one", "one-to-many", "one-to-one"]),
  confidence: z.number(),
});

const joinPath = z
  .object({
    connection: z.string(),
    steps: z.array(joinStep).meta({ description: "Empty if there are `choices`." }),
    sql: z.string(),
    confidence: z.number(),
    warnings: z.array(z.string()),
    inflated: z
      .array(
        z.object({
          table: z.string(),
          reason: z.enum(["fan-out", "lookup"]).meta({
            description: "A later step meets many rows, or many rows of an earlier table refer to one of it.",
          }),
          rows_factor: z.number().nullable(),
          sum_factor: z.number().nullable(),
          sum_column: z.string().nullable(),
          measured: z.boolean().meta({ description: "Counted in the database; otherwise estimated." }),
        }),
      )
      .meta({ description: "Tables whose rows the joins repeat, and by which factor." }),
    dropped: z
      .array(z.object({ table: z.string(), to: z.string(), rows: z.number(), of: z.number(), measured: z.boolean() }))
      .meta({ description: "Rows without a match in the next table, which an inner join drops." }),
    choices: z
      .array(z.object({ via: z.string(), steps: z.array(joinStep), sql: z.string(), confidence: z.number() }))
      .meta({ description: "Several ways that are as good: ask again with `via`." }),
    under_review: z
      .array(z.object({ condition: z.string(), confidence: z.number() }))
      .meta({ description: "Direct joins that wait for a review." }),
  })
  .meta({ id: "JoinPath" });
export type JoinPath = z.infer<typeof joinPath>;

const sqlAnswer = z
  .object({
    columns: z.array(z.string()),
    rows: z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()]))),
    truncated: z.boolean(),
    estimate: z.object({ rows: z.number().optional(), bytes: z.number().optional(), plan: z.string() }).nullable(),
    verdict: statementVerdict.optional(),
    elapsed_ms: z.int().optional().meta({ description: "Time of the estimate and the query." }),
  })
  .meta({ id: "SqlAnswer" });
export type SqlAnswer = z.infer<typeof sqlAnswer>;

const node = tableSummary
  .omit({ columns: true, joins: true })
  .extend({ distance: z.int(), x: z.number(), y: z.number() });

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

const foundValues = z
  .object({
    found: z.array(
      z.object({
        value: z.string().meta({ description: "As it was asked for." }),
        connection: z.string(),
        table: z.string(),
        column: z.string(),
        stored: z.string().meta({ description: "As the database spells it." }),
        match: z.enum(["exact", "spelling", "similar", "part"]).meta({
          description:
            "`spelling`: but for case, accents and punctuation; `similar`: a few letters differ; `part`: of a longer value.",
        }),
      }),
    ),
    missing: z.array(z.string()),
    left_out: z.int().meta({ description: "Matches beyond the limit per value." }),
    incomplete_columns: z.int().meta({ description: "Columns with more values than the catalogue keeps." }),
  })
  .meta({ id: "FoundValues" });

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
  /** The newest commits that changed the file. */
  "context.files.history": {
    query: z.strictObject({ path: name, limit: count().min(1).max(1_000).default(50) }),
    response: listOf(
      z
        .object({
          commit: z.string(),
          at: z.string(),
          subject: z.string(),
          proposal: z.string().nullable().meta({ description: "The proposal whose acceptance made the commit." }),
        })
        .meta({ id: "ContextCommit" }),
    ),
  },
  "context.tables.list": { query: z.strictObject({ ...pageQuery, ...connection }), response: pageOf(tableSummary) },
  "context.tables.retrieve": { query: z.strictObject({ name, ...connection }), response: tableDescription },
  "context.joins.retrieve": {
    query: z.strictObject({ from: name, to: name, via: name.optional(), ...connection }),
    response: joinPath,
  },
  "context.values.find": {
    query: z.strictObject({ values: z.array(z.string().min(1).max(200)).min(1).max(20), ...connection }),
    response: foundValues,
  },
  "context.graph.retrieve": {
    query: z.strictObject({
      table: name.optional(),
      ...connection,
      depth: count().min(0).max(10).default(1),
      limit: count().min(1).max(MAX_NODES).default(100),
      layout: z
        .enum(["layers", "none"])
        .default("layers")
        .meta({ description: `\`none\`: without places, for more than ${MAX_PLACED} tables.` }),
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
