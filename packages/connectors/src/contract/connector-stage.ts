import type { Connection, Dialect, Rows } from "../connection.ts";

/** What differs from one database to the other in what the suite asks. */
export interface Wording {
  /** Must be refused as more than a query that reads. */
  attempts: readonly string[];
  /** Must fail, in whatever way. */
  failures: readonly string[];
  /** Must be answered. */
  queries: readonly string[];
  /** For `refuse.second-line`: writes that the judge would refuse, sent without it. */
  writes: readonly string[];
  /** Rows without end, each with a number. */
  endless: string;
  /** Works for hours before it has a row. */
  slow: string;
  /** The sample's `orders` with its values as they are to come back. */
  order: Record<string, unknown>;
}

/** One database, as the contract suite uses it. It has the tables of the sample. */
export interface ConnectorFixture extends AsyncDisposable {
  readonly dialect: Dialect;
  readonly wording: Wording;
  open(): Promise<Connection>;
  /** Statements past the connector, by somebody who may write. */
  execute(statements: readonly string[]): Promise<void>;
  /** A fingerprint of everything that is in the database. */
  fingerprint(): Promise<string>;
  /** Past the judge, through what a query goes through after it. */
  bypass(sql: string): Promise<unknown>;
}

export type Verify = (stage: Stage) => Promise<void>;

export interface Stage {
  readonly fixture: ConnectorFixture;
  readonly connection: Connection;
}

export const only = (rows: Rows): unknown => rows.rows[0]?.[0];
