import { z } from "zod";
import type { FileProblem } from "../formats/file-problem.ts";
import { PERSONAL_KINDS } from "../privacy/personal-data.ts";
import { readYaml } from "../formats/read-yaml.ts";
import { SampleLists, withoutSampleLists } from "./sample-lists.ts";

/** Descriptions by author. A person's takes precedence over a model's, and a model's over the database's comment. */
const descriptions = z.object({
  human: z.string().optional(),
  ai: z.string().optional(),
  /** For a column: the name and type that the model described; see `isStale`. */
  aiFor: z.string().optional(),
  db: z.string().optional(),
});
export type Descriptions = z.output<typeof descriptions>;

/** How exact a stored count is: `rounded` from an exact one, or `estimated` from a sample or by the database. */
const exactness = z.enum(["exact", "rounded", "estimated"]);
export type Exactness = z.output<typeof exactness>;

/** Whether a fact was read from all rows, or from a sample of them. */
const coverage = z.enum(["all", "sample"]);

export const joinEntry = z.object({
  columns: z.array(z.string()).min(1),
  /** `schema.table` of the same connection. */
  to: z.string(),
  toColumns: z.array(z.string()).min(1),
  cardinality: z.enum(["many-to-one", "one-to-one"]),
  origin: z.enum(["declared", "data", "model", "human"]),
  /** From 0 to 1, in hundredths. */
  confidence: z.number().min(0).max(1),
  /** Distinct values of `columns` that were looked for in `toColumns`, and how many were found. Absent: not compared. */
  evidence: z.object({ compared: z.int(), matched: z.int(), of: coverage }).optional(),
  when: z.object({ column: z.string(), equals: z.string() }).optional(),
  why: z.string().optional(),
});
export type JoinEntry = z.output<typeof joinEntry>;

/** The fields of a join that are the same from either of its tables. */
export type SharedJoin = Omit<JoinEntry, "to" | "evidence" | "when" | "why">;
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
  /** The labels of an enum or set, in the database's order. */
  labels: z.array(z.string()).optional(),
  /** The column no longer exists; kept because of a person's text. */
  gone: z.literal(true).optional(),
  descriptions: descriptions.optional(),
  profile: z
    .object({
      nulls: z.number().optional(),
      distinct: z.int().optional(),
      distinctIs: exactness.optional(),
      min: z.union([z.string(), z.number(), z.boolean()]).optional(),
      max: z.union([z.string(), z.number(), z.boolean()]).optional(),
      samples: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
      /** Every value of the column, every value in a sample of its rows, or a few examples. */
      samplesAre: z.enum(["all", "sample", "examples"]).optional(),
      /** Values are withheld: only their form, or only counts, are stored. */
      stored: z.enum(["shapes", "none"]).optional(),
      /** The kind of personal data that was detected. */
      personal: z.enum(PERSONAL_KINDS).optional(),
      /** Forms of the values, most frequent first: `A` capital letter, `a` letter, `9` digit. */
      shapes: z.array(z.string()).optional(),
      /** Shortest and longest value, where shapes are stored. */
      lengths: z.array(z.int()).length(2).optional(),
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
  rowsAre: exactness.optional(),
  /** The rows that the columns' profiles were read from. */
  profiled: coverage.optional(),
  primaryKey: z.array(z.string()).optional(),
  uniqueKeys: z.array(z.array(z.string())).optional(),
  /** Columns that the data shows to be unique and without nulls, though no key is declared. */
  verifiedKeys: z.array(z.object({ columns: z.array(z.string()), of: coverage })).optional(),
  /** Check constraints, as SQL conditions. */
  checks: z.array(z.string()).optional(),
  columns: z.array(columnEntry),
  /** Deleting the last join may leave an empty key. */
  joins: z.preprocess((joins) => joins ?? undefined, z.array(joinEntry).optional()).optional(),
  /** A person's notes; never changed. */
  notes: z.string().optional(),
});
export type TableFile = z.output<typeof tableFile>;

export type ParsedTableFile = { success: true; table: TableFile } | { success: false; problems: FileProblem[] };

export function parseTableFile(text: string): ParsedTableFile {
  const short = withoutSampleLists(text);
  const lists = new SampleLists(short.lists);
  const quick = readYaml(short.text, tableFile, { reviver: lists.revive });
  if (quick.success && lists.areComplete) return { success: true, table: quick.value };
  const read = readYaml(text, tableFile);
  return read.success ? { success: true, table: read.value } : read;
}
