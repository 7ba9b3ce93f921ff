import { type CataloguedTable, tableText } from "../../model/catalogued-table.ts";

/**
 * Values of one class are compared without a conversion that makes different values equal. Across classes, a unique value can
 * equal several others: the text key '01' and the text key '1' both equal the number 1.
 */
export type ValueClass =
  | "number"
  | "float"
  | "text"
  | "citext"
  | "day"
  | "instant"
  | "local"
  | "boolean"
  | "blob"
  | "other";

/** A column of a query's result. */
export interface OutputColumn {
  readonly name: string;
  /** The stored column that it shows unchanged. */
  readonly base?: BaseColumn;
  /** Its values can appear in several rows, though each belongs to one row of something else. */
  readonly repeats?: Repetition;
  /** Tables that its values come from. */
  readonly sources?: ReadonlySet<string>;
  /** The class of its values, if it is computed. */
  readonly valueClass?: ValueClass;
}

/** The origin of values that a query repeats. Compared by identity. */
export interface Repetition {
  readonly label: string;
  readonly table?: CataloguedTable;
}

export interface BaseColumn {
  readonly table: CataloguedTable;
  readonly column: string;
}

/** Facts about a table or a subquery that an outer query can use. */
export interface QueryShape {
  readonly outputs: readonly OutputColumn[];
  /** Sets of outputs in which no two rows agree. An empty set: there is at most one row. */
  readonly keys: readonly (readonly string[])[];
  /** Stored columns that have one literal value in all rows, by `fixedKey`. */
  readonly fixed?: ReadonlyMap<string, string>;
  /** Why its number of rows is not known. Nothing that reads it can be judged. */
  readonly unclear?: string;
}

export const fixedKey = (table: string, column: string): string => `${table}\0${column}`.toLowerCase();

export interface Relation extends QueryShape {
  readonly alias: string;
  /** For messages: the table, or the alias of a subquery. */
  readonly label: string;
  /** The stored table, if it is one. */
  readonly table?: CataloguedTable;
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
  /** The text of a literal. */
  readonly literal?: string;
}

/** The statement cannot be judged; the message says why. */
export class NotJudged extends Error {}

export function tableShape(table: CataloguedTable): QueryShape {
  const sources = new Set([tableText(table)]);
  const outputs = table.columns.map(({ name }) => ({ name, base: { table, column: name }, sources }));
  if (hasTwins(outputs)) throw new NotJudged(`Columns of ${tableText(table)} differ only in case.`);
  return { outputs, keys: table.keys };
}

export const hasTwins = (outputs: readonly OutputColumn[]): boolean =>
  new Set(outputs.map(({ name }) => name.toLowerCase())).size < outputs.length;

export const outputOf = ({ outputs }: QueryShape, column: string): OutputColumn | undefined =>
  outputs.find(({ name }) => sameName(name, column));

export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The shape under other names: `AS t(a, b)`. Columns without a new name keep theirs. */
export function renamed(shape: QueryShape, names: readonly (string | undefined)[]): QueryShape {
  if (names.length === 0) return shape;
  const nameAt = new Map(shape.outputs.map(({ name }, at) => [name.toLowerCase(), names[at] ?? name]));
  if (hasTwins(shape.outputs)) throw new NotJudged("It renames columns of the same name.");
  return {
    ...shape,
    outputs: shape.outputs.map((output) => ({ ...output, name: nameAt.get(output.name.toLowerCase())! })),
    keys: shape.keys.map((key) => key.map((column) => nameAt.get(column.toLowerCase())!)),
  };
}
