import { z } from "zod";
import { CONNECTION_DRIVERS, SOURCE_TYPES } from "../../config/context-config.ts";

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}$/, "expected a name of lower-case letters, digits, - and _, such as shop");

/** A page must not start programs on the server's machine, so `command:` is left to tandem.yaml. */
const SECRET = /^(env:[A-Za-z_][A-Za-z0-9_]*|file:\S.*)$/s;

const place = {
  driver: z.enum(CONNECTION_DRIVERS),
  path: z.string().min(1).max(4_096).optional().meta({ description: "The file, for `sqlite` and `duckdb`." }),
  url: z
    .string()
    .min(1)
    .max(4_096)
    .refine((text) => !text.startsWith("command:"), "expected a URL, env:NAME or file:path")
    .optional()
    .meta({ description: "A URL without a password, or env:NAME or file:path of one; for `postgres` and `mysql`." }),
  password: z
    .string()
    .regex(SECRET, "expected env:NAME or file:path: name the place of the password, not the password itself")
    .optional(),
  schemas: z.array(z.string().min(1).max(200)).min(1).max(200).optional(),
};

const connectionTest = z
  .object({
    version: z.string().meta({ description: "Product and version of the database." }),
    tables: z.int(),
    views: z.int(),
    account_can_write: z.boolean().nullable().meta({
      description:
        "Whether the account itself may change data. Tandem only reads in any case. Null for files, or if it is unknown.",
    }),
    milliseconds: z.int(),
  })
  .meta({ id: "ConnectionTest" });
export type ConnectionTest = z.infer<typeof connectionTest>;

const folder = {
  type: z.enum(SOURCE_TYPES),
  path: z.string().min(1).max(4_096),
  connection: name.optional().meta({ description: "The connection of its tables, for `dbt` and `sql`." }),
};

const sourceTest = z
  .object({
    documents: z.int(),
    bytes: z.int(),
    skipped: z.array(z.object({ path: z.string(), message: z.string() })).meta({ description: "The first 20." }),
    skipped_count: z.int(),
    milliseconds: z.int(),
  })
  .meta({ id: "SourceTest" });
export type SourceTest = z.infer<typeof sourceTest>;

const saved = z.object({ name: z.string(), file: z.string().meta({ description: "The config file." }) });

/** Databases and folders that an administrator adds while the server runs. */
export const contextSetupApi = {
  "context.connections.test": {
    body: z.strictObject(place).meta({ id: "TestConnection" }),
    response: connectionTest,
  },
  "context.connections.create": {
    body: z.strictObject({ name, ...place }).meta({ id: "CreateConnection" }),
    response: saved.extend({ test: connectionTest }).meta({ id: "SavedConnection" }),
  },
  "context.sources.test": {
    body: z.strictObject(folder).meta({ id: "TestSource" }),
    response: sourceTest,
  },
  "context.sources.create": {
    body: z.strictObject({ name, ...folder }).meta({ id: "CreateSource" }),
    response: saved.extend({ test: sourceTest }).meta({ id: "SavedSource" }),
  },
};
