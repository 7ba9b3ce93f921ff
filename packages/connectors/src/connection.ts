/** A table within its connection. Two schemas may have tables of one name: nothing is ever named by `name` alone. */
export interface TableName {
  /** The database's own word for it: `public`, `main`; in MySQL the database. */
  schema: string;
  name: string;
}

/** What kind of values a column holds, whatever the database calls its type. A `date` is a day; a `time` has a clock. */
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
  /** As the database spells it; empty where it has none (SQLite). */
  type: string;
  kind: ColumnKind;
  nullable: boolean;
  /** The database's own comment. */
  comment?: string;
}

export interface ForeignKey {
  columns: readonly string[];
  to: TableName;
  /** Paired with `columns`, one by one. */
  toColumns: readonly string[];
}

export interface Table extends TableName {
  type: "table" | "view";
  comment?: string;
  columns: readonly Column[];
  /** In the key's own order; empty where there is none. */
  primaryKey: readonly string[];
  /** Other unique keys, without partial ones and those on expressions. */
  uniqueKeys: readonly (readonly string[])[];
  foreignKeys: readonly ForeignKey[];
  /** As far as the database knows without counting. */
  estimatedRows?: number;
}

/**
 * What JSON can say. Integers that a number cannot hold and all decimals are text, so that no digit is lost; dates are ISO
 * text, moments in UTC with a `Z`; binary is `\x` and hex; arrays and structures are text. SQLite has neither decimals nor
 * dates of its own: what is stored comes back. A value that is longer than an eighth of `maxBytes` is cut and ends in `…`.
 */
export type Value = string | number | boolean | null;

export interface Rows {
  columns: readonly string[];
  rows: readonly (readonly Value[])[];
  /** There was more: rows or bytes were cut off. */
  truncated: boolean;
}

export interface QueryOptions {
  parameters?: readonly Value[];
  /** 1,000 unless told otherwise. */
  maxRows?: number;
  /** Of the values as text; 1 MB unless told otherwise. */
  maxBytes?: number;
  /** From the call on, a wait for a free connection included; 30 s unless told otherwise. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** What a query would read, where the database can tell without running it. */
export interface QueryEstimate {
  rows?: number;
  bytes?: number;
  plan: string;
}

export interface StructureOptions {
  signal?: AbortSignal;
  onSkipped?: (skipped: SkippedTable) => void;
}

/** Something that cannot be read, and why. */
export interface SkippedTable extends TableName {
  reason: string;
}

export type Dialect = "sqlite" | "postgres" | "duckdb" | "mysql";

/**
 * A database that is only read. Nothing that is asked through it can write, whoever asks: the session or file is opened
 * read-only, and a query is parsed and must be one statement that only reads, with no function that has effects.
 * Every query ends by its deadline, and its result is bounded. Errors are `ConnectionError`; one that was aborted rejects
 * with the signal's reason. A server that was away is connected to again. Several queries may be asked at once.
 */
export interface Connection extends AsyncDisposable {
  readonly dialect: Dialect;
  /**
   * Schemas, tables and keys that the role may see, also those it does not own. Without the database's own tables. What is
   * there and cannot be read by anybody, such as a view of a table that is gone, is told to `onSkipped`.
   */
  structure(options?: StructureOptions): Promise<Table[]>;
  /**
   * Parameters are `?` in order, in every dialect. In Postgres, where `?` is an operator too, a query with parameters writes
   * the operator as `??`; one without any is left as it is.
   */
  query(sql: string, options?: QueryOptions): Promise<Rows>;
  estimate(sql: string, options?: QueryOptions): Promise<QueryEstimate>;
  /** An identifier, quoted for this dialect. */
  quote(identifier: string): string;
}
