import type { ColumnKind, TableName } from "@tandem/connectors";
import type { Arithmetic, Comparison, FunctionName } from "../expression/expression.ts";
import type { Granularity } from "./granularity.ts";
import type { ZoneOffsets } from "./zone-offsets.ts";

/** A pattern of LIKE: texts, and wildcards for any text or for one character. */
export type LikePattern = readonly ({ readonly text: string } | "any" | "one")[];

/** The wildcards of LIKE; no character escapes them. */
export const likePattern = (written: string): LikePattern =>
  written
    .split(/([%_])/)
    .filter((part) => part !== "")
    .map((part) => (part === "%" ? "any" : part === "_" ? "one" : { text: part }));

/** A `day` has no time zone; an `instant` is a time in UTC. */
export type SqlType = "number" | "text" | "boolean" | "day" | "instant";

export type Aggregate = "sum" | "count" | "count_distinct" | "min" | "max" | "average" | "median";

/** A typed SQL expression, independent of the dialect. */
export type Sql =
  /** A column of a table, as it is stored. */
  | {
      readonly op: "column";
      readonly alias: string;
      readonly name: string;
      readonly type: SqlType;
      readonly kind: ColumnKind;
      /** The database's type name. */
      readonly declared: string;
    }
  /** A column that another SELECT of the statement computes. */
  | { readonly op: "output"; readonly alias: string; readonly name: string; readonly type: SqlType }
  | { readonly op: "number" | "text" | "day" | "instant"; readonly value: string }
  | { readonly op: "boolean"; readonly value: boolean }
  | { readonly op: "null"; readonly type: SqlType }
  | { readonly op: "negate" | "not" | "is_null" | "exact" | "display"; readonly operand: Sql }
  | { readonly op: "arithmetic"; readonly operator: Arithmetic; readonly left: Sql; readonly right: Sql }
  | { readonly op: "compare"; readonly operator: Comparison; readonly left: Sql; readonly right: Sql }
  | { readonly op: "and" | "or"; readonly operands: readonly Sql[] }
  | { readonly op: "in"; readonly operand: Sql; readonly values: readonly Sql[] }
  | { readonly op: "like"; readonly operand: Sql; readonly pattern: LikePattern }
  | { readonly op: "case"; readonly branches: readonly { when: Sql; result: Sql }[]; readonly otherwise: Sql }
  | { readonly op: "call"; readonly name: FunctionName; readonly operands: readonly Sql[]; readonly type: SqlType }
  /** `operand` is undefined for a count of rows. */
  | { readonly op: "aggregate"; readonly function: Aggregate; readonly operand?: Sql }
  /** The start of the period that contains a time, as ISO text; in the zone, if there is one. */
  | { readonly op: "bucket"; readonly unit: Granularity; readonly operand: Sql; readonly zone?: ZoneOffsets }
  /** A bucket, moved by whole units. */
  | { readonly op: "shift"; readonly operand: Sql; readonly unit: Granularity; readonly by: number }
  /** The largest or smallest value among the rows of the same partition, or the count of values that are not NULL. */
  | {
      readonly op: "window";
      readonly function: "max" | "min" | "count";
      readonly operand: Sql;
      readonly partition: readonly Sql[];
    }
  /** The position of a row in its partition, by a value; NULLs are last. */
  | { readonly op: "row_number"; readonly operand: Sql; readonly partition: readonly Sql[] }
  | { readonly op: "exists"; readonly select: Select };

export type Source =
  | { readonly kind: "table"; readonly table: TableName; readonly alias: string }
  | { readonly kind: "named"; readonly name: string; readonly alias: string };

export interface Join {
  readonly kind: "left" | "inner";
  readonly source: Source;
  readonly on: Sql;
}

export interface Output {
  readonly name: string;
  readonly sql: Sql;
}

export interface Select {
  readonly outputs: readonly Output[];
  readonly isDistinct?: boolean;
  /** Undefined: one row of constants. */
  readonly from?: Source;
  readonly joins: readonly Join[];
  readonly where: readonly Sql[];
  /** The first so many outputs are the group. Undefined: no aggregation. */
  readonly groupBy?: number;
}

export type Query = Select | { readonly union: readonly Select[] };

export interface Statement {
  readonly named: readonly { readonly name: string; readonly query: Query }[];
  readonly last: Select;
  /** NULLs sort last in both directions. */
  readonly order: readonly { readonly output: string; readonly isDescending: boolean }[];
  readonly limit: number;
}

/** A column that the relation `alias` of the statement computes. */
export const output = (alias: string, name: string, type: SqlType = "text"): Sql => ({
  op: "output",
  alias,
  name,
  type,
});

export const compare = (operator: Comparison, left: Sql, right: Sql): Sql => ({ op: "compare", operator, left, right });

export const isNotNull = (operand: Sql): Sql => ({ op: "not", operand: { op: "is_null", operand } });

/** A relation of the statement, under its own name. */
export const relation = (name: string): Source => ({ kind: "named", name, alias: name });

export function typeOf(sql: Sql): SqlType {
  switch (sql.op) {
    case "column":
    case "output":
    case "null":
    case "call":
      return sql.type;
    case "row_number":
    case "number":
    case "negate":
    case "arithmetic":
      return "number";
    case "text":
    case "bucket":
    case "shift":
      return "text";
    case "day":
    case "instant":
      return sql.op;
    case "boolean":
    case "not":
    case "is_null":
    case "compare":
    case "and":
    case "or":
    case "in":
    case "like":
    case "exists":
      return "boolean";
    case "exact":
    case "display":
      return typeOf(sql.operand);
    case "case":
      return typeOf(
        [...sql.branches.map(({ result }) => result), sql.otherwise].find(({ op }) => op !== "null") ?? sql.otherwise,
      );
    case "aggregate":
      return sql.function === "min" || sql.function === "max" ? typeOf(sql.operand!) : "number";
    case "window":
      return sql.function === "count" ? "number" : typeOf(sql.operand);
  }
}

export const allOf = (operands: readonly Sql[]): Sql | undefined =>
  operands.length > 1 ? { op: "and", operands } : operands[0];

/** Text compared by its characters, whatever the collation of the column is. */
export const exact = (sql: Sql): Sql => (typeOf(sql) === "text" ? { op: "exact", operand: sql } : sql);
