import type { ConnectionErrorCode } from "../connection-error.ts";
import type { QueryEstimate, Rows, SkippedTable, Table, Value } from "../connection.ts";

export interface ReaderQuery {
  sql: string;
  parameters: readonly Value[];
  maxRows: number;
  maxBytes: number;
}

export interface Structure {
  tables: Table[];
  skipped: SkippedTable[];
}

/** Operations of a reader process. */
export interface Reader {
  query(query: ReaderQuery): Rows | Promise<Rows>;
  estimate(query: ReaderQuery): QueryEstimate | Promise<QueryEstimate>;
  structure(): Structure | Promise<Structure>;
}

export type Request =
  | { type: "query"; query: ReaderQuery }
  | { type: "estimate"; query: ReaderQuery }
  | { type: "structure" };

export type Reply =
  | { type: "opened" }
  | { type: "rows"; rows: Rows }
  | { type: "estimate"; estimate: QueryEstimate }
  | ({ type: "structure" } & Structure)
  | { type: "failed"; code: ConnectionErrorCode; message: string; fix: string };
