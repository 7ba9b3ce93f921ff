import type { Dialect, TableName } from "@tandem/connectors";
import type { JoinStep } from "@tandem/relationships";
import type { TableFile } from "../catalogue/table-file.ts";

/** Writes the tables, conditions and queries of a path in the dialect of its database. */
export class JoinSql {
  readonly tables: readonly TableName[];
  /** The condition of each step. */
  readonly conditions: readonly string[];
  readonly #dialect: Dialect | undefined;

  constructor(
    steps: readonly JoinStep[],
    dialect: Dialect | undefined,
    fileOf: (table: TableName) => TableFile | undefined,
  ) {
    this.#dialect = dialect;
    this.tables = [steps[0]!.from.table, ...steps.map(({ to }) => to.table)];
    this.conditions = steps.map((step, at) => this.#condition(step, at, fileOf));
  }

  /** `FROM a JOIN b ON …`: the tables from one position to another. */
  chain(first = 0, last = this.tables.length - 1): string {
    const joins = this.tables
      .slice(first + 1, last + 1)
      .map((_, i) => `JOIN ${this.#named(first + 1 + i)} ON ${this.conditions[first + i]}`);
    return [`FROM ${this.#named(first)}`, ...joins].join("\n");
  }

  /** Whether a row at a position has a match on one side of the path. */
  hasMatch(position: number, first: number, last: number): string {
    const toPosition = this.conditions[position < first ? position : position - 1];
    return `EXISTS (SELECT 1 ${this.chain(first, last)} WHERE ${toPosition})`;
  }

  column = (position: number, column: string): string => `${this.#reference(position)}.${this.#quote(column)}`;

  /** A sum that cannot overflow. */
  sum = (expression: string): string =>
    this.#dialect === "mysql" ? `sum(${expression} * 1.0)` : `sum(CAST(${expression} AS DOUBLE PRECISION))`;

  #written = ({ schema, name }: TableName): string => `${this.#quote(schema)}.${this.#quote(name)}`;

  /** A table that is joined with itself has a second name. */
  #reference(position: number): string {
    const table = this.tables[position]!;
    const before = this.tables.slice(0, position).filter((each) => isSame(each, table)).length;
    return before === 0 ? this.#written(table) : this.#quote(`${table.name}_${before + 1}`);
  }

  #named(position: number): string {
    const [written, reference] = [this.#written(this.tables[position]!), this.#reference(position)];
    return written === reference ? written : `${written} AS ${reference}`;
  }

  #condition(step: JoinStep, at: number, fileOf: (table: TableName) => TableFile | undefined): string {
    const { from, to, when } = step;
    const [mine, theirs] = [fileOf(from.table), fileOf(to.table)];
    const pairs = from.columns.map((column, i) => {
      const ends: [Side, Side] = [
        sideOf(this.column(at, column), mine, column),
        sideOf(this.column(at + 1, to.columns[i]!), theirs, to.columns[i]!),
      ];
      return this.#equal(ends);
    });
    // A polymorphic reference applies to some rows only, in both directions.
    if (when) {
      const position = isSame(when.table, from.table) ? at : at + 1;
      pairs.push(`${this.column(position, when.column)} = '${when.equals.replaceAll("'", "''")}'`);
    }
    return pairs.join(" AND ");
  }

  /** Text is compared with a number as text, or as a number if it is padded: `0042` is 42. */
  #equal([a, b]: readonly [Side, Side]): string {
    const isMixed = (a.kind === "text" && b.kind === "number") || (a.kind === "number" && b.kind === "text");
    if (!isMixed || this.#dialect === undefined) return `${a.sql} = ${b.sql}`;
    const isPadded = a.isPadded || b.isPadded;
    const type = isPadded
      ? this.#dialect === "mysql"
        ? "SIGNED"
        : "BIGINT"
      : this.#dialect === "mysql"
        ? "CHAR"
        : "TEXT";
    const cast = (side: Side) => ((side.kind === "text") === isPadded ? `CAST(${side.sql} AS ${type})` : side.sql);
    return `${cast(a)} = ${cast(b)}`;
  }

  /** Quotes names that are not plain; in Postgres, uppercase is not plain. */
  #quote(identifier: string): string {
    if (/^[a-z_][a-z0-9_]*$/.test(identifier) && !RESERVED.has(identifier)) return identifier;
    return this.#dialect === "mysql"
      ? `\`${identifier.replaceAll("`", "``")}\``
      : `"${identifier.replaceAll('"', '""')}"`;
  }
}

const isSame = (a: TableName, b: TableName): boolean => a.schema === b.schema && a.name === b.name;

interface Side {
  sql: string;
  kind: "text" | "number" | undefined;
  isPadded: boolean;
}

const NUMBER = /int|serial|numeric|decimal|number|real|double|float/i;
const TEXT = /char|text|string|clob/i;

export const isNumberType = (type: string): boolean => NUMBER.test(type) && !TEXT.test(type);

function sideOf(sql: string, file: TableFile | undefined, name: string): Side {
  const column = file?.columns.find((each) => each.name === name);
  const type = column?.type ?? "";
  const kind = TEXT.test(type) ? "text" : NUMBER.test(type) ? "number" : undefined;
  const samples = column?.profile?.samples ?? [];
  return { sql, kind, isPadded: kind === "text" && samples.some((value) => /^0\d/.test(String(value))) };
}

const RESERVED = new Set(
  "all and any as asc between by case cast check column create cross current_date default desc distinct else end except false for foreign from full grant group having in inner intersect into is join key left like limit natural not null on or order outer primary references right row rows select set table then to true union unique update user using values when where with".split(
    " ",
  ),
);
