import type { TableName, Value } from "@tandem/connectors";

/** Whether a fact was read from all rows of a table, or from a sample of them. */
export type Coverage = "all" | "sample";

/** Statistics of a column from a bounded sample. */
export interface ColumnProfile {
  name: string;
  /** Fraction of nulls, 0 to 1. */
  nulls: number;
  /** Distinct values without nulls. */
  distinct: number;
  /** No duplicate in the sample, without nulls. */
  unique: boolean;
  min?: Value;
  max?: Value;
  /** For text: shortest and longest length in the sample. */
  lengths?: readonly [shortest: number, longest: number];
  /** A few frequent or typical values, most frequent first. */
  samples: readonly Value[];
  /** Every value of a column with few distinct ones, frequent ones first. Absent if not asked for, or if there are more. */
  domain?: Domain;
}

export interface Domain {
  values: readonly Value[];
  of: Coverage;
}

/** Columns that the data shows to be unique and without nulls, beside the declared keys. */
export interface VerifiedKey {
  columns: readonly string[];
  of: Coverage;
}

export interface TableProfile extends TableName {
  /** Exact if cheap to count, else the database's estimate. */
  rows: number;
  rowsAreExact: boolean;
  /** Number of sampled rows. */
  sampled: number;
  /** Without columns that could not be read. */
  columns: readonly ColumnProfile[];
  /** Single columns; absent if not asked for. */
  verifiedKeys?: readonly VerifiedKey[];
  /** Columns that could not be read, and why: a type without a needed function, a missing privilege. */
  unreadable: readonly { name: string; code: string; message: string }[];
}

/** Whether all rows were read, so that figures of the columns are exact. */
export const coverageOf = ({
  rows,
  rowsAreExact,
  sampled,
}: Pick<TableProfile, "rows" | "rowsAreExact" | "sampled">): Coverage =>
  rowsAreExact && sampled >= rows ? "all" : "sample";
