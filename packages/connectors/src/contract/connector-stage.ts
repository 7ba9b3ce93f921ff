import type { Connection, Dialect, Rows } from "../connection.ts";

/** Dialect-specific statements of the suite. */
export interface DialectSamples {
  /** Must be rejected as more than a read-only query. */
  attempts: readonly string[];
  /** Must fail in any way. */
  failures: readonly string[];
  /** Must succeed. */
  queries: readonly string[];
  /** Writes sent without the query check. */
  writes: readonly string[];
  /** An endless result, each row with a number. */
  endless: string;
  /** Runs for hours before its first row. */
  slow: string;
  /** Expected values of a row of the sample's `orders`. */
  order: Record<string, unknown>;
}

/** One database under test, with the sample's tables. */
export interface ConnectorFixture extends AsyncDisposable {
  readonly dialect: Dialect;
  readonly samples: DialectSamples;
  open(): Promise<Connection>;
  /** Executes statements directly, with write access. */
  execute(statements: readonly string[]): Promise<void>;
  /** A fingerprint of the database's whole content. */
  fingerprint(): Promise<string>;
  /** Runs a query without the query check. */
  bypass(sql: string): Promise<unknown>;
}

/** What every connection does, in one sentence each, with its test. */
export type Behaviours = Record<string, (stage: Stage) => Promise<void>>;

export interface Stage {
  readonly fixture: ConnectorFixture;
  readonly connection: Connection;
}

export const only = (rows: Rows): unknown => rows.rows[0]?.[0];
