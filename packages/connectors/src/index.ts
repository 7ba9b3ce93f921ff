export { tableKey } from "./assemble-tables.ts";
export { columnKind } from "./column-kind.ts";
export { ConnectionError, type ConnectionErrorCode } from "./connection-error.ts";
export type {
  Column,
  ColumnKind,
  Connection,
  Dialect,
  ForeignKey,
  QueryEstimate,
  QueryOptions,
  Rows,
  SkippedTable,
  StructureOptions,
  Table,
  TableName,
  Value,
} from "./connection.ts";
export { copyPerturbed, type RowChange, type RowReference } from "./copy-perturbed.ts";
export { inspectConnection, type ConnectionFacts } from "./inspect-connection.ts";
export { openConnection, type DatabaseLocation } from "./open-connection.ts";
