export { tableKey } from "./assemble-tables.ts";
export { columnKind } from "./column-kind.ts";
export { ConnectionError } from "./connection-error.ts";
export type {
  Column,
  ColumnKind,
  Connection,
  Dialect,
  ForeignKey,
  QueryEstimate,
  Rows,
  SkippedTable,
  Table,
  TableName,
  Value,
} from "./connection.ts";
export { copyPerturbed, type RowReference } from "./copy-perturbed.ts";
export { inspectConnection } from "./inspect-connection.ts";
export type { DatabaseLocation } from "./database-location.ts";
export { openConnection } from "./open-connection.ts";
