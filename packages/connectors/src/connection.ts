/** A table within its connection. Tables in two schemas can share a name, so `name` alone never identifies one. */
export interface TableName {
  /** The database's schema: `public`, `main`; in MySQL the database. */
  schema: string;
  name: string;
}

/** Kind of a column's values, independent of the type's name. A `date` is a day; a `time` has a clock time. */
export type ColumnKind =
  | "integer"
  | "decimal"
  | "text"
  | "boolean"
  | "date"
  | "time"
  | "uuid"
  | "json"
  | "binary"
  | "other";

export interface Column {
  name: string;
  /** The database's own type name; empty if there is none (SQLite). */
  type: string;
  kind: ColumnKind;
  nullable: boolean;
  /** The labels of an enum or set, in their order. */
  labels?: readonly string[];
  /** Comment stored in the database. */
  comment?: string;
}

export interface ForeignKey {
  columns: readonly string[];
  to: TableName;
  /** Paired with `columns` by index. */
  toColumns: readonly string[];
}

export interface Table extends TableName {
  type: "table" | "view";
  comment?: string;
  columns: readonly Column[];
  /** In key order; empty if there is none. */
  primaryKey: readonly string[];
  /** Other unique keys, except for partial and expression keys. */
  uniqueKeys: readonly (readonly string[])[];
  foreignKeys: readonly ForeignKey[];
  /** Conditions that the database enforces on every row, in its SQL; absent if there are none. */
  checks?: readonly string[];
  /** The database's own estimate. */
  estimatedRows?: number;
}

/**
 * JSON values. Decimals and integers beyond the safe range are text, so that no digit is lost. Dates are ISO text,
 * instants are in UTC with a `Z`, binary is `\x` and hex, arrays and structures are text. SQLite has no decimal or date
 * types; stored values are returned unchanged. A value longer than an eighth of `maxBytes` is truncated and ends in
 * `…`.
 */
export type Value = string | number | boolean | null;

export interface Rows {
  columns: readonly string[];
  rows: readonly (readonly Value[])[];
  /** Rows or bytes were cut off. */
  truncated: boolean;
}

export interface QueryOptions {
  parameters?: readonly Value[];
  /** Default: 1,000. */
  maxRows?: number;
  /** Size of the values as text. Default: 1 MB. */
  maxBytes?: number;
  /** Includes the wait for a free connection. Default: 30 s. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** Estimated reads of a query, where the database can tell without running it. */
export interface QueryEstimate {
  rows?: number;
  bytes?: number;
  plan: string;
}

export interface StructureOptions {
  signal?: AbortSignal;
  onSkipped?: (skipped: SkippedTable) => void;
}

/** A table that cannot be read, with the reason. */
export interface SkippedTable extends TableName {
  reason: string;
}

export type Dialect = "sqlite" | "postgres" | "duckdb" | "mysql";

/**
 * A read-only database connection. It cannot write: the session or file is opened read-only, and each query is parsed
 * and must be a single read-only statement without functions that have side effects. Every query has a deadline and a
 * bounded result. Fails with `ConnectionError`, or with the signal's reason if aborted. Reconnects after an outage.
 * Queries may run concurrently.
 */
export interface Connection extends AsyncDisposable {
  readonly dialect: Dialect;
  /**
   * Schemas, tables and keys visible to the role, including those it does not own. Excludes system tables. Broken
   * objects, such as a view of a dropped table, are reported to `onSkipped`.
   */
  structure(options?: StructureOptions): Promise<Table[]>;
  /**
   * Parameters are `?` in order, in every dialect. In Postgres `?` is also an operator: write it as `??` in a query
   * with parameters; a query without parameters is unchanged.
   */
  query(sql: string, options?: QueryOptions): Promise<Rows>;
  estimate(sql: string, options?: QueryOptions): Promise<QueryEstimate>;
  /** Quotes an identifier for this dialect. */
  quote(identifier: string): string;
}
