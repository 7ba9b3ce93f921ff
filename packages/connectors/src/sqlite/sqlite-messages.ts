import type { ConnectionErrorCode } from "../connection-error.ts";
import type { Rows, Table } from "../connection.ts";
import type { SqliteQuery } from "./sqlite-reader.ts";

// What we and the process with the file say to each other.

export type Request = ({ type: "query" } & SqliteQuery) | { type: "structure" };

export type Reply =
  | { type: "opened" }
  | { type: "rows"; rows: Rows }
  | { type: "structure"; tables: Table[] }
  | { type: "failed"; code: ConnectionErrorCode; message: string; fix: string };
