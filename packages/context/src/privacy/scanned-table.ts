import type { Table, TableName } from "@tandem/connectors";
import type { TableProfile } from "@tandem/relationships";
import type { StorableProfile } from "./storable-values.ts";

/** A table's profile, restricted to what may be stored; see `restrictTables`. */
export type StorableTable = Omit<TableProfile, "columns"> & { columns: readonly StorableProfile[] };

/** A table during a scan. */
export interface ScannedTable {
  table: Table;
  /** Undefined if profiling failed or there is nothing to sample. */
  profile: StorableTable | undefined;
}

/** An unambiguous map key: both parts may contain any character. */
export const tableKey = ({ schema, name }: TableName): string => JSON.stringify([schema, name]);

/** For people. */
export const tableLabel = ({ schema, name }: TableName): string => `${schema}.${name}`;

export const profileOf = ({ profile }: ScannedTable, column: string): StorableProfile | undefined =>
  profile?.columns.find(({ name }) => name === column);
