import { z } from "zod";
import { deadline } from "./duration.ts";
import { samples } from "./samples-config.ts";
import { secretReference, SECRET_FORM, SECRET_FORMAT } from "./secret-reference.ts";
import { harmless, needsTrust } from "./trust-mark.ts";

const NAME_EXPECTED = "expected a name of lower-case letters, digits, - and _, such as shop";
const name = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, NAME_EXPECTED);

const URL_EXPECTED =
  "expected postgres://… or mysql://… without a password, or env:NAME, file:path or command:program …";

/** Also catches encoded names (`%70assword`) and other parameters that unlock keys. */
const holdsPassword = (url: string): boolean =>
  [...(URL.parse(url)?.searchParams.keys() ?? [])].some((key) => /pass|pwd|secret|token/i.test(key));

export const CONNECTION_DRIVERS = ["sqlite", "postgres", "duckdb", "mysql"] as const;

const connection = z
  .strictObject({
    driver: z.enum(CONNECTION_DRIVERS).describe("Kind of database; `mysql` includes MariaDB."),
    path: z.string().min(1).optional().describe("Database file, for `sqlite` and `duckdb`; relative to this file."),
    url: z
      .string({ error: URL_EXPECTED })
      .refine(
        (text) => SECRET_FORM.test(text) || /^(postgres(ql)?|mysql|mariadb):\/\/(?![^/]*:[^/]*@)/.test(text),
        URL_EXPECTED,
      )
      // Lists show the address, so a password in its query would leak.
      .refine(
        (text) => SECRET_FORM.test(text) || !holdsPassword(text),
        "a password does not belong in the URL: put a reference in `password`, as env:NAME, file:path or command:program …",
      )
      .optional()
      .meta({ format: SECRET_FORMAT })
      .describe("URL without a password, or a secret reference to a URL; for `postgres` and `mysql`."),
    password: secretReference.optional().describe("Secret reference to the password, if the URL has none."),
    schemas: z.array(z.string().min(1)).optional().describe("Schemas to read. Default: all visible schemas."),
  })
  .refine(({ driver, path, url }) => {
    const isFile = driver === "sqlite" || driver === "duckdb";
    return isFile ? path !== undefined && url === undefined : url !== undefined && path === undefined;
  }, "expected `path` for sqlite and duckdb, `url` for postgres and mysql");

export const connections = z.record(name, connection).meta(needsTrust());
export type ConnectionConfig = z.output<typeof connection>;

const embeddings = z
  .strictObject({
    backend: z
      .enum(["none", "openai", "onnx"])
      .default("none")
      .describe("Source of vectors: none, an OpenAI-compatible endpoint, or a model in a local folder."),
    model: z.string().min(1).optional().describe("Model name at the endpoint."),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("URL of the endpoint, such as http://127.0.0.1:11434/v1."),
    apiKey: secretReference.optional().describe("Secret reference to the endpoint's key, if it needs one."),
    path: z.string().min(1).optional().describe("A folder with `model.onnx` and `tokenizer.json`."),
  })
  .meta(needsTrust());
export type EmbeddingsConfig = z.output<typeof embeddings>;

export const contextSection = z.strictObject({
  folder: z
    .string()
    .min(1)
    .default("context")
    .meta(needsTrust())
    .describe("Folder of the context; relative to this file."),
  git: z
    .enum(["own", "project"])
    .default("own")
    .meta(needsTrust())
    .describe(
      "Whether that folder is a separate repository, or part of the project's repository (its branches are not changed).",
    ),
  accept: z
    .strictObject({
      structure: z.enum(["always", "never"]).default("always").describe("Tables, columns and keys of the database."),
      joins: z
        .enum(["certain", "never"])
        .default("certain")
        .describe("Joins that were found and verified in the data."),
      descriptions: z.enum(["when-empty", "never"]).default("when-empty").describe("Descriptions by a model."),
      wiki: z.enum(["always", "never"]).default("never").describe("Pages from sources."),
      memory: z.enum(["always", "never"]).default("never").describe("Memories."),
    })
    .prefault({})
    .meta(needsTrust())
    .describe("Proposals that are accepted automatically. The others need a review."),
  budget: z
    .strictObject({
      usd: z.number().positive().default(25).describe("US dollars at list price."),
      requests: z.int().min(1).optional().describe("Model requests."),
    })
    .prefault({})
    .meta(needsTrust())
    .describe(
      "Limit of one scan or ingest. One that is expected to need more does not start without confirmation, and a running one stops there.",
    ),
  search: z
    .strictObject({
      unreviewed: z
        .enum(["off", "label"])
        .default("off")
        .describe(
          "Whether searches find passages of documents that no person has reviewed: not at all, or labelled with their source. Suspicious and rejected text is never found.",
        ),
    })
    .prefault({})
    .meta(needsTrust())
    .describe("Searches by agents, programs and people."),
  sql: z
    .strictObject({
      verdict: z
        .enum(["warn", "refuse"])
        .default("warn")
        .describe(
          "Treatment of a statement whose joins repeat rows, are not in the catalogue or mix grains: its result carries a warning, or it is not run.",
        ),
    })
    .prefault({})
    .meta(harmless("Either value shows the verdict."))
    .describe("Statements that agents and people run."),
});

const SCAN = "`connections` selects the tables to read.";
const INGEST = "`ingest.sources` selects the documents to read; the schema bounds the number of requests.";

export const scanSection = z.strictObject({
  sampleRows: z
    .int()
    .min(10)
    .max(1_000_000)
    .default(10_000)
    .meta(harmless(SCAN))
    .describe("Number of rows to sample per table."),
  samples,
  concurrency: z.int().min(1).max(32).default(4).meta(harmless(SCAN)).describe("Number of concurrent queries."),
  queryDeadline: deadline.prefault("30s").meta(harmless(SCAN)).describe("Timeout of one query."),
  descriptions: z
    .boolean()
    .default(true)
    .meta(harmless("The other value calls no model."))
    .describe("Whether a model describes tables and columns."),
  tablesPerCall: z.int().min(1).max(50).default(8).meta(harmless(SCAN)).describe("Number of tables per model call."),
  modelJoins: z
    .boolean()
    .default(true)
    .meta(harmless("The other value calls no model."))
    .describe("Whether a model suggests further joins."),
  joins: z
    .strictObject({
      pairs: z
        .int()
        .min(1)
        .optional()
        .describe("Maximum number of column pairs whose values are compared. Default: 400 and 25 per table."),
      queries: z.int().min(1).optional().describe("Maximum number of queries. Default: 2,000 and 5 per table."),
      deadline: deadline.prefault("2m").describe("Time limit for all comparisons."),
    })
    .prefault({})
    .meta(harmless(SCAN))
    .describe("Budgets of the search for joins. Pairs left out are counted as not compared and never accepted."),
  embeddings: embeddings.prefault({}).describe("Vectors for the search over tables and columns."),
});

export const SOURCE_TYPES = ["folder", "dbt", "sql", "notion", "confluence", "queries"] as const;

const GIT_EXPECTED = "expected https://…, ssh://…, git@HOST:PATH or file:///…, without a password";

const source = z
  .strictObject({
    type: z
      .enum(SOURCE_TYPES)
      .default("folder")
      .describe(
        "Kind of source: documents, a dbt project, SQL files or exported query history, an export of Notion or Confluence, or the query history that a database server keeps.",
      ),
    path: z
      .string()
      .min(1)
      .optional()
      .describe("Path of the source; relative to this file, or to the repository. Not for `queries`."),
    git: z
      .string()
      // Other protocols run programs or are unencrypted; a leading dash would be an option.
      .regex(
        /^(https:\/\/(?![^/]*@)|ssh:\/\/(?![^/]*:[^/]*@)|file:\/\/\/|[\w.-]+@[\w][\w.-]*:(?!\/\/))[^\s-][^\s]*$/,
        GIT_EXPECTED,
      )
      .refine((url) => !url.includes("::"), GIT_EXPECTED)
      .optional()
      .describe("URL of a git repository to read instead of a folder; without credentials."),
    branch: z.string().min(1).max(200).optional().describe("Branch of the repository. Default: its own default."),
    token: secretReference.optional().describe("Secret reference to a token for an https repository."),
    include: z.array(z.string().min(1)).optional().describe("Only files that match one of these patterns."),
    exclude: z.array(z.string().min(1)).optional().describe("Exclude files that match one of these patterns."),
    connection: name.optional().describe("Connection of its tables; for `queries`, the server to read."),
  })
  .refine(({ type, path, git, connection }) => {
    if (type === "queries") return connection !== undefined && path === undefined && git === undefined;
    return path !== undefined || git !== undefined;
  }, "expected `connection` for queries, and `path` or `git` for other sources")
  .refine(
    ({ git, branch, token }) => git !== undefined || (branch === undefined && token === undefined),
    "`branch` and `token` need `git`",
  );

export const ingestSection = z.strictObject({
  sources: z
    .record(name, source)
    .default({})
    .meta(needsTrust())
    .describe("Sources for `tandem context ingest`, by name."),
  maxFileMb: z
    .int()
    .min(1)
    .max(1_024)
    .default(20)
    .meta(harmless(INGEST))
    .describe("Maximum size of a file in megabytes. Larger files are skipped and listed."),
  workUnits: z
    .strictObject({
      stepBudget: z.int().min(1).max(500).default(40).describe("Maximum number of model requests per work unit."),
      concurrency: z.int().min(1).max(16).default(2).describe("Number of concurrent work units."),
    })
    .prefault({})
    .meta(harmless(INGEST))
    .describe("Agents that read sources in full."),
  curation: z
    .strictObject({
      stepBudget: z.int().min(1).max(500).default(60).describe("Maximum number of model requests per pass."),
      batch: z.int().min(1).max(100).default(16).describe("Number of candidates per pass."),
      passes: z.int().min(1).max(100).default(8).describe("Maximum number of passes per run."),
      creates: z.int().min(0).default(25).describe("Maximum number of new pages per run."),
      updates: z.int().min(0).default(20).describe("Maximum number of changed pages per run."),
    })
    .prefault({})
    .meta(harmless(INGEST))
    .describe("Agent that decides which candidates enter the wiki."),
  reconcile: z
    .strictObject({ stepBudget: z.int().min(1).max(500).default(60).describe("Maximum number of model requests.") })
    .prefault({})
    .meta(harmless(INGEST))
    .describe("Agent that resolves contradictions."),
  embeddings: embeddings.prefault({}).describe("Vectors for the search over pages and memories."),
});

export const memorySection = z.strictObject({
  capture: z
    .enum(["off", "propose", "on"])
    .default("off")
    .meta(needsTrust())
    .describe("Whether memories are extracted from sessions; `on` accepts those based on a user's own words."),
  after: deadline
    .prefault("30m")
    .meta(harmless("`memory.capture` decides whether sessions are read."))
    .describe("Idle time before a session is read."),
  expiryDays: z
    .int()
    .min(0)
    .max(3_650)
    .default(365)
    .meta(harmless("It concerns memories that were accepted."))
    .describe("Days until a captured memory expires, unless it has its own expiry; 0: never."),
});
