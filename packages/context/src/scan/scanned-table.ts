import type { Table, TableName } from "@tandem/connectors";
import type { ColumnProfile, TableProfile } from "@tandem/relationships";

/** A table as the stages of a scan see it. */
export interface ScannedTable {
  table: Table;
  /** Undefined where the profile failed, or there is nothing to sample. */
  profile: TableProfile | undefined;
}

/** For maps. Neither part of a name may be taken for the other: both may hold any character. */
export const tableKey = ({ schema, name }: TableName): string => JSON.stringify([schema, name]);

/** For people. */
export const tableLabel = ({ schema, name }: TableName): string => `${schema}.${name}`;

export const profileOf = ({ profile }: ScannedTable, column: string): ColumnProfile | undefined =>
  profile?.columns.find(({ name }) => name === column);
