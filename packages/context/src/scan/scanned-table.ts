import type { Table, TableName } from "@tandem/connectors";
import type { ColumnProfile, TableProfile } from "@tandem/relationships";

/** A table during a scan. */
export interface ScannedTable {
  table: Table;
  /** Undefined if profiling failed or there is nothing to sample. */
  profile: TableProfile | undefined;
}

/** An unambiguous map key: both parts may contain any character. */
export const tableKey = ({ schema, name }: TableName): string => JSON.stringify([schema, name]);

/** For people. */
export const tableLabel = ({ schema, name }: TableName): string => `${schema}.${name}`;

export const profileOf = ({ profile }: ScannedTable, column: string): ColumnProfile | undefined =>
  profile?.columns.find(({ name }) => name === column);
