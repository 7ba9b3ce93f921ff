import type { TableName, Value } from "@tandem/connectors";

/** What a column's values are like, from a bounded sample. */
export interface ColumnProfile {
  name: string;
  /** Share of nulls in the sample, 0 to 1. */
  nulls: number;
  /** Distinct values in the sample, nulls apart. */
  distinct: number;
  /** No value twice among all that were looked at, nulls apart. */
  unique: boolean;
  min?: Value;
  max?: Value;
  /** Of text: how many characters the shortest and the longest value of the sample have. */
  lengths?: readonly [shortest: number, longest: number];
  /** A few frequent or typical values, the most frequent first. */
  samples: readonly Value[];
}

export interface TableProfile extends TableName {
  /** Exact where it was cheap to count, else the database's estimate. */
  rows: number;
  rowsAreExact: boolean;
  /** How many rows the figures below were taken from. */
  sampled: number;
  columns: readonly ColumnProfile[];
}
