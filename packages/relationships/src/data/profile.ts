import type { TableName, Value } from "@tandem/connectors";

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
}

export interface TableProfile extends TableName {
  /** Exact if cheap to count, else the database's estimate. */
  rows: number;
  rowsAreExact: boolean;
  /** Number of sampled rows. */
  sampled: number;
  columns: readonly ColumnProfile[];
}
