import type { ConnectionErrorCode } from "../connection-error.ts";
import type { QueryEstimate, Rows, Table, Value } from "../connection.ts";

export interface ReaderQuery {
  sql: string;
  parameters: readonly Value[];
  maxRows: number;
  maxBytes: number;
}

/** What the process that has a file open can do. */
export interface Reader {
  query(query: ReaderQuery): Rows | Promise<Rows>;
  estimate(query: ReaderQuery): QueryEstimate | Promise<QueryEstimate>;
  structure(): Table[] | Promise<Table[]>;
}

export type Request =
  | { type: "query"; query: ReaderQuery }
  | { type: "estimate"; query: ReaderQuery }
  | { type: "structure" };

export type Reply =
  | { type: "opened" }
  | { type: "rows"; rows: Rows }
  | { type: "estimate"; estimate: QueryEstimate }
  | { type: "structure"; tables: Table[] }
  | { type: "failed"; code: ConnectionErrorCode; message: string; fix: string };
