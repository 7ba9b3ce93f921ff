import { z } from "zod";
import { deadline } from "./duration.ts";
import { secretReference, SECRET_FORM, SECRET_FORMAT } from "./secret-reference.ts";
import { harmless, needsTrust } from "./trust-mark.ts";

const NAME_EXPECTED = "expected a name of small letters, digits, - and _, such as shop";
const name = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, NAME_EXPECTED);

const URL_EXPECTED =
  "expected postgres://… or mysql://… without a password, or env:NAME, file:path or command:program …";

/** Also catches encoded names (`%70assword`) and other parameters that unlock keys. */
const holdsPassword = (url: string): boolean =>
  [...(URL.parse(url)?.searchParams.keys() ?? [])].some((key) => /pass|pwd|secret|token/i.test(key));

export const CONNECTION_DRIVERS = ["sqlite", "postgres", "duckdb", "mysql"] as const;

const connection = z
  .strictObject({
    driver: z.enum(CONNECTION_DRIVERS).describe("What kind of database it is; `mysql` is MariaDB too."),
    path: z.string().min(1).optional().describe("The file, for `sqlite` and `duckdb`; relative to this file."),
    url: z
      .string({ error: URL_EXPECTED })
      .refine(
        (text) => SECRET_FORM.test(text) || /^(postgres(ql)?|mysql|mariadb):\/\/(?![^/]*:[^/]*@)/.test(text),
        URL_EXPECTED,
      )
      // Lists show the address, so a password in its query would leak.
      .refine(
        (text) => SECRET_FORM.test(text) || !holdsPassword(text),
        "a password does not belong in the address: name where it is kept in `password`, as env:NAME, file:path or command:program …",
      )
      .optional()
      .meta({ format: SECRET_FORMAT })
      .describe("The address, for `postgres` and `mysql`: without a password, or where the whole of it is kept."),
    password: secretReference.optional().describe("Where the password is kept, if the address does not hold it."),
    schemas: z.array(z.string().min(1)).optional().describe("Schemas to read; without it, all that the role may see."),
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
      .describe(
        "What makes vectors: nothing, an endpoint that speaks OpenAI's protocol, or a model in a local folder.",
      ),
    model: z.string().min(1).optional().describe("The model's name at the endpoint."),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("The endpoint, such as http://127.0.0.1:11434/v1."),
    apiKey: secretReference.optional().describe("Where the endpoint's key is kept, if it wants one."),
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
    .describe("Where the context is kept; relative to this file."),
  git: z
    .enum(["own", "project"])
    .default("own")
    .meta(needsTrust())
    .describe(
      "Whether that folder is a repository of its own, or part of the project's (its branches are left alone).",
    ),
  accept: z
    .strictObject({
      structure: z
        .enum(["always", "never"])
        .default("always")
        .describe("Tables, columns and keys as the database has them."),
      joins: z
        .enum(["certain", "never"])
        .default("certain")
        .describe("Joins that were found and verified in the data."),
      descriptions: z.enum(["when-empty", "never"]).default("when-empty").describe("Descriptions by a model."),
      wiki: z.enum(["always", "never"]).default("never").describe("Pages that were read out of sources."),
      memory: z.enum(["always", "never"]).default("never").describe("Memories."),
    })
    .prefault({})
    .meta(needsTrust())
    .describe("Which proposals are accepted by rule; the rest waits for a person."),
});

const SCAN = "`connections` decides what is read.";
const INGEST = "`ingest.sources` decides what is read; the schema bounds the number of requests.";

export const scanSection = z.strictObject({
  sampleRows: z
    .int()
    .min(10)
    .max(1_000_000)
    .default(10_000)
    .meta(harmless(SCAN))
    .describe("Rows of a table that are looked at."),
  concurrency: z.int().min(1).max(32).default(4).meta(harmless(SCAN)).describe("Queries at once."),
  queryDeadline: deadline.prefault("30s").meta(harmless(SCAN)).describe("Deadline for one query."),
  descriptions: z
    .boolean()
    .default(true)
    .meta(harmless("The other value calls no model."))
    .describe("Whether a model describes tables and columns."),
  tablesPerCall: z
    .int()
    .min(1)
    .max(50)
    .default(8)
    .meta(harmless(SCAN))
    .describe("Tables that one call of the model describes."),
  modelJoins: z
    .boolean()
    .default(true)
    .meta(harmless("The other value calls no model."))
    .describe("Whether a model is asked for joins that were not found otherwise."),
  embeddings: embeddings.prefault({}).describe("Vectors for the search over tables and columns."),
});

export const SOURCE_TYPES = ["folder", "dbt", "sql", "notion", "confluence"] as const;

export const ingestSection = z.strictObject({
  sources: z
    .record(
      name,
      z.strictObject({
        type: z
          .enum(SOURCE_TYPES)
          .default("folder")
          .describe(
            "What is there: documents, a dbt project, SQL files or query history, an export of Notion or Confluence.",
          ),
        path: z.string().min(1).describe("Where it is; relative to this file."),
        include: z.array(z.string().min(1)).optional().describe("Only files that one of these patterns fits."),
        exclude: z.array(z.string().min(1)).optional().describe("No files that one of these patterns fits."),
        connection: name.optional().describe("The connection that its tables belong to."),
      }),
    )
    .default({})
    .meta(needsTrust())
    .describe("What `tandem ingest` reads, by name."),
  maxFileMb: z
    .int()
    .min(1)
    .max(1_024)
    .default(20)
    .meta(harmless(INGEST))
    .describe("Megabytes of a file at most; larger ones are skipped and listed."),
  workUnits: z
    .strictObject({
      stepBudget: z.int().min(1).max(500).default(40).describe("Model requests of one work unit at most."),
      concurrency: z.int().min(1).max(16).default(2).describe("Work units at once."),
    })
    .prefault({})
    .meta(harmless(INGEST))
    .describe("Agents that read sources closely."),
  curation: z
    .strictObject({
      stepBudget: z.int().min(1).max(500).default(60).describe("Model requests of one pass at most."),
      batch: z.int().min(1).max(100).default(8).describe("Candidates of one pass."),
      passes: z.int().min(1).max(100).default(8).describe("Passes of one run at most."),
      creates: z.int().min(0).default(25).describe("Pages that one run may add."),
      updates: z.int().min(0).default(20).describe("Pages that one run may change."),
    })
    .prefault({})
    .meta(harmless(INGEST))
    .describe("The agent that decides what enters the wiki."),
  reconcile: z
    .strictObject({ stepBudget: z.int().min(1).max(500).default(60).describe("Model requests at most.") })
    .prefault({})
    .meta(harmless(INGEST))
    .describe("The agent that settles contradictions."),
  embeddings: embeddings.prefault({}).describe("Vectors for the search over pages and memories."),
});

export const memorySection = z.strictObject({
  capture: z
    .enum(["off", "propose", "on"])
    .default("off")
    .meta(needsTrust())
    .describe(
      "Whether sessions are read for what is worth remembering; `on` accepts what rests on a person's own words.",
    ),
  after: deadline
    .prefault("30m")
    .meta(harmless("`memory.capture` decides whether."))
    .describe("How long a session is idle before it is read."),
  expiryDays: z
    .int()
    .min(0)
    .max(3_650)
    .default(365)
    .meta(harmless("It concerns memories that were accepted."))
    .describe("Days after which a captured memory is no longer served unless it says otherwise; 0: it stays."),
});
