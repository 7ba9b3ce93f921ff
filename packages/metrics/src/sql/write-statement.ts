import type { Dialect } from "@tandem/connectors";
import { MetricError } from "../metric-error.ts";
import { duckdb } from "./dialects/duckdb.ts";
import { mysql } from "./dialects/mysql.ts";
import { postgres } from "./dialects/postgres.ts";
import { sqlite } from "./dialects/sqlite.ts";
import type { SqlDialect } from "./sql-dialect.ts";
import { type Query, type Select, type Source, type Sql, type Statement, typeOf } from "./sql.ts";

const DIALECTS: Record<Dialect, SqlDialect> = { sqlite, postgres, duckdb, mysql };

/** Writes a statement in a dialect. Values are literals, so that the text runs as it is. */
export function writeStatement(statement: Statement, dialect: Dialect): string {
  return new Writer(DIALECTS[dialect]).statement(statement);
}

class Writer {
  readonly #dialect: SqlDialect;

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect;
  }

  statement({ named, last, order, limit }: Statement): string {
    const quote = this.#dialect.quote;
    const parts = named.map(({ name, query }) => `${quote(name)} AS (\n${this.#query(query)}\n)`);
    const sorted = order.flatMap(({ output, isDescending }) => {
      const value = last.outputs.find(({ name }) => name === output)!.sql;
      // Converted text would sort by the collation of the session.
      const sql = this.#sql(value.op === "display" ? value.operand : value);
      return [`(${sql} IS NULL)`, `${sql}${isDescending ? " DESC" : ""}`];
    });
    return [
      ...(parts.length > 0 ? [`WITH ${parts.join(",\n")}`] : []),
      this.#select(last),
      ...(sorted.length > 0 ? [`ORDER BY ${sorted.join(", ")}`] : []),
      `LIMIT ${limit}`,
    ].join("\n");
  }

  #query(query: Query): string {
    return "union" in query
      ? query.union.map((select) => this.#select(select)).join("\nUNION ALL\n")
      : this.#select(query);
  }

  #select({ outputs, isDistinct, from, joins, where, groupBy }: Select): string {
    const quote = this.#dialect.quote;
    const columns = outputs.map(({ name, sql }) => `  ${this.#sql(sql)} AS ${quote(name)}`);
    return [
      `SELECT${isDistinct ? " DISTINCT" : ""}\n${columns.join(",\n")}`,
      ...(from ? [`FROM ${this.#source(from)}`] : []),
      ...joins.map(
        ({ kind, source, on }) =>
          `${kind === "left" ? "LEFT JOIN" : "JOIN"} ${this.#source(source)} ON ${this.#sql(on)}`,
      ),
      ...(where.length > 0 ? [`WHERE ${where.map((sql) => this.#operand(sql)).join("\n  AND ")}`] : []),
      ...(groupBy
        ? [
            `GROUP BY ${outputs
              .slice(0, groupBy)
              .map((_, at) => at + 1)
              .join(", ")}`,
          ]
        : []),
    ].join("\n");
  }

  #source(source: Source): string {
    const quote = this.#dialect.quote;
    const name =
      source.kind === "table" ? `${quote(source.table.schema)}.${quote(source.table.name)}` : quote(source.name);
    return source.kind === "named" && source.name === source.alias ? name : `${name} AS ${quote(source.alias)}`;
  }

  /** In parentheses, unless it is a single term. */
  #operand(sql: Sql): string {
    const text = this.#sql(sql);
    switch (sql.op) {
      case "and":
      case "or":
      case "not":
      case "compare":
      case "arithmetic":
      case "negate":
      case "in":
      case "like":
      case "is_null":
      case "exact":
      case "bucket":
        return `(${text})`;
      default:
        return text;
    }
  }

  #sql(sql: Sql): string {
    const dialect = this.#dialect;
    const operand = (inner: Sql): string => this.#operand(inner);
    switch (sql.op) {
      case "column":
        return dialect.stored(sql, `${dialect.quote(sql.alias)}.${dialect.quote(sql.name)}`);
      case "output":
        return `${dialect.quote(sql.alias)}.${dialect.quote(sql.name)}`;
      case "number":
        return sql.value;
      case "text":
        return dialect.text(sql.value);
      case "day":
        return dialect.day(sql.value);
      case "instant":
        return dialect.instant(sql.value);
      case "boolean":
        return sql.value ? "TRUE" : "FALSE";
      case "null":
        return dialect.nullOf(sql.type);
      case "negate":
        return `-${operand(sql.operand)}`;
      case "not":
        return `NOT ${operand(sql.operand)}`;
      case "is_null":
        return `${operand(sql.operand)} IS NULL`;
      case "exact":
        return dialect.exact(operand(sql.operand));
      case "display":
        return typeOf(sql.operand) === "text" ? dialect.display(this.#sql(sql.operand)) : this.#sql(sql.operand);
      case "arithmetic":
        return sql.operator === "/"
          ? dialect.divide(operand(sql.left), operand(sql.right))
          : `${this.#wide(sql.left)} ${sql.operator} ${this.#wide(sql.right)}`;
      case "compare":
        return `${operand(sql.left)} ${sql.operator} ${operand(sql.right)}`;
      case "and":
      case "or":
        return sql.operands.map(operand).join(` ${sql.op.toUpperCase()} `);
      case "in":
        return `${operand(sql.operand)} IN (${sql.values.map((value) => this.#sql(value)).join(", ")})`;
      case "like":
        return dialect.like(operand(sql.operand), sql.pattern);
      case "case": {
        const branches = sql.branches.map(({ when, result }) => `WHEN ${this.#sql(when)} THEN ${this.#sql(result)}`);
        return `CASE ${branches.join(" ")} ELSE ${this.#sql(sql.otherwise)} END`;
      }
      case "call":
        return this.#call(sql);
      case "aggregate":
        return this.#aggregate(sql);
      case "bucket": {
        const time = this.#sql(sql.operand);
        const isDay = typeOf(sql.operand) === "day";
        return dialect.bucket(sql.zone && !isDay ? dialect.local(time, sql.zone) : time, sql.unit, isDay);
      }
      case "shift":
        return dialect.shift(operand(sql.operand), sql.unit, sql.by);
      case "window":
        return `${sql.function.toUpperCase()}(${this.#sql(sql.operand)}) OVER (${this.#partition(sql.partition)})`;
      case "row_number": {
        const value = operand(sql.operand);
        return `ROW_NUMBER() OVER (${this.#partition(sql.partition)} ORDER BY (${value} IS NULL), ${value})`;
      }
      case "exists":
        return `EXISTS (${this.#select(sql.select)})`;
    }
  }

  #partition(partition: readonly Sql[]): string {
    return partition.length === 0 ? "" : `PARTITION BY ${partition.map((inner) => this.#sql(inner)).join(", ")}`;
  }

  #wide(sql: Sql): string {
    return sql.op === "column" && sql.kind === "integer" ? this.#dialect.wide(this.#sql(sql)) : this.#operand(sql);
  }

  #call({ name, operands }: Extract<Sql, { op: "call" }>): string {
    const dialect = this.#dialect;
    const [first = "", second = "0"] = operands.map((sql) => this.#operand(sql));
    switch (name) {
      case "lower":
      case "upper":
        return dialect.letters(this.#sql(operands[0]!), name);
      case "abs":
      case "trim":
      case "coalesce":
      case "nullif":
        return `${name}(${operands.map((sql) => this.#sql(sql)).join(", ")})`;
      case "length":
        return dialect.length(first);
      case "round":
        return dialect.round(first, second);
      case "from_epoch":
        return dialect.fromEpoch(first);
      case "year":
      case "quarter":
      case "month":
      case "day":
      case "hour":
      case "weekday":
        return dialect.part(name, first);
    }
  }

  #aggregate({ function: aggregate, operand }: Extract<Sql, { op: "aggregate" }>): string {
    const inner = operand ? this.#sql(operand) : "*";
    switch (aggregate) {
      case "count_distinct":
        return `COUNT(DISTINCT ${inner})`;
      case "average":
        return this.#dialect.average(inner);
      case "median": {
        const sql = this.#dialect.median(inner);
        if (sql !== undefined) return sql;
        throw new MetricError(
          "unsupported",
          `A median cannot be computed on ${this.#dialect.name}.`,
          "Use an average.",
        );
      }
      default:
        return `${aggregate.toUpperCase()}(${inner})`;
    }
  }
}
