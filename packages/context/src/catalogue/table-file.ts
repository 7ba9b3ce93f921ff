import { z } from "zod";
import type { FileProblem } from "../file-problem.ts";
import { readYaml } from "../read-yaml.ts";

/** Descriptions by author. A person's takes precedence over a model's, and a model's over the database's comment. */
const descriptions = z.object({ human: z.string().optional(), ai: z.string().optional(), db: z.string().optional() });
export type Descriptions = z.output<typeof descriptions>;

export const joinEntry = z.object({
  columns: z.array(z.string()).min(1),
  /** `schema.table` of the same connection. */
  to: z.string(),
  toColumns: z.array(z.string()).min(1),
  cardinality: z.enum(["many-to-one", "one-to-one"]),
  origin: z.enum(["declared", "data", "model", "human"]),
  /** From 0 to 1, in hundredths. */
  confidence: z.number().min(0).max(1),
  when: z.object({ column: z.string(), equals: z.string() }).optional(),
  why: z.string().optional(),
});
export type JoinEntry = z.output<typeof joinEntry>;

/** The fields of a join that are the same from either of its tables. */
export type SharedJoin = Omit<JoinEntry, "to" | "when" | "why">;
export const sharedJoin = ({ columns, toColumns, cardinality, origin, confidence }: SharedJoin): SharedJoin => ({
  columns,
  toColumns,
  cardinality,
  origin,
  confidence,
});

export const columnEntry = z.object({
  name: z.string(),
  /** The database's type name. */
  type: z.string(),
  nullable: z.boolean().optional(),
  /** The column no longer exists; kept because of a person's text. */
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
export type ColumnEntry = z.output<typeof columnEntry>;

/** `catalogue/<connection>/<schema>.<table>.yaml`. Keys added by a person stay. */
export const tableFile = z.object({
  connection: z.string(),
  schema: z.string(),
  table: z.string(),
  type: z.enum(["table", "view"]),
  gone: z.literal(true).optional(),
  descriptions: descriptions.optional(),
  /** Rounded to two digits, so that a growing table does not change its file every day. */
  rows: z.int().optional(),
  primaryKey: z.array(z.string()).optional(),
  uniqueKeys: z.array(z.array(z.string())).optional(),
  columns: z.array(columnEntry),
  /** Deleting the last join may leave an empty key. */
  joins: z.preprocess((joins) => joins ?? undefined, z.array(joinEntry).optional()).optional(),
  /** A person's notes; never changed. */
  notes: z.string().optional(),
});
export type TableFile = z.output<typeof tableFile>;

export type ParsedTableFile = { success: true; table: TableFile } | { success: false; problems: FileProblem[] };

export function parseTableFile(text: string): ParsedTableFile {
  const read = readYaml(text, tableFile);
  return read.success ? { success: true, table: read.value } : read;
}
