import type { ColumnKind, TableName } from "@tandem/connectors";

interface CataloguedColumn {
  readonly name: string;
  readonly type: string;
  readonly kind: ColumnKind;
  readonly isNullable?: boolean;
  /** Its texts may be compared by other rules than those of its unique keys. */
  readonly hasCollation?: boolean;
}

/** The verified facts about a table that definitions are checked against. */
export interface CataloguedTable extends TableName {
  readonly columns: readonly CataloguedColumn[];
  /** Unique keys, declared by the database or verified on all rows. */
  readonly keys: readonly (readonly string[])[];
  /** Those of the keys that no constraint enforces: they were unique when the table was scanned. */
  readonly observedKeys?: readonly (readonly string[])[];
  /** Accepted joins from this table. */
  readonly joins: readonly CataloguedJoin[];
}

export interface CataloguedJoin {
  readonly columns: readonly string[];
  readonly to: TableName;
  /** Paired with `columns` by index. */
  readonly toColumns: readonly string[];
  /** Some rows have a reference that is NULL or leads nowhere. */
  readonly hasUnmatched?: boolean;
  /** Only for rows with this value. */
  readonly when?: { readonly column: string; readonly equals: string };
}

/** Whether no two rows have equal values in these columns. */
export const isUnique = ({ keys }: CataloguedTable, columns: readonly string[]): boolean =>
  keys.some((key) => key.length > 0 && key.every((column) => columns.includes(column)));

export const tableText = ({ schema, name }: TableName): string => `${schema}.${name}`;
