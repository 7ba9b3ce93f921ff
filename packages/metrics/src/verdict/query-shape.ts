import type { CataloguedTable } from "../model/catalogued-table.ts";

/** A column of a query's result. */
export interface OutputColumn {
  readonly name: string;
  /** The stored column that it shows unchanged. */
  readonly base?: BaseColumn;
}

export interface BaseColumn {
  readonly table: CataloguedTable;
  readonly column: string;
}

/** What an outer query can know about a table or a subquery. */
export interface QueryShape {
  readonly outputs: readonly OutputColumn[];
  /** Sets of outputs in which no two rows agree. An empty set: there is at most one row. */
  readonly keys: readonly (readonly string[])[];
}

export interface Relation extends QueryShape {
  readonly alias: string;
  /** For messages: the table, or the alias of a subquery. */
  readonly label: string;
  /** A join can fill it with NULLs. */
  isNullable: boolean;
  /** How it was joined to the relations before it. */
  readonly join: "first" | "inner" | "left" | "right" | "full" | "cross";
}

/** A column of a relation of the same SELECT. */
export interface ColumnUse {
  readonly relation: number;
  readonly column: string;
}

export interface Equality {
  readonly left: ColumnUse;
  /** Undefined: a constant, a parameter or a column of an outer query. */
  readonly right?: ColumnUse;
}

/** The statement cannot be judged; the message says why. */
export class NotJudged extends Error {}

export const tableShape = (table: CataloguedTable): QueryShape => ({
  outputs: table.columns.map(({ name }) => ({ name, base: { table, column: name } })),
  keys: table.keys,
});

export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
