import type { Dialect } from "@tandem/connectors";
import { kindOf, listOf } from "../verdict/tree/sql-node.ts";
import { untranslatable } from "./sql-term.ts";

export type SqlFlavour = Dialect | "standard";
/** Parses the SQL of one expression into the parser's tree. Throws `unsupported`. */
export type ParseFragment = (sql: string, flavour: SqlFlavour) => unknown;

/** Loads the parser, which is large. */
export async function loadFragmentParser(): Promise<ParseFragment> {
  const { Dialect: Parser, init, parse } = await import("@polyglot-sql/sdk");
  await init();
  const dialects = {
    sqlite: Parser.SQLite,
    postgres: Parser.PostgreSQL,
    duckdb: Parser.DuckDB,
    mysql: Parser.MySQL,
    standard: Parser.Generic,
  };
  return (sql, flavour) => {
    const parsed = parse(`SELECT ${sql}`, dialects[flavour]);
    if (!parsed.success || !Array.isArray(parsed.ast)) {
      throw untranslatable(`\`${sql}\` cannot be parsed as ${flavour} SQL.`);
    }
    const [statement, second] = parsed.ast;
    const { kind, body } = kindOf(statement);
    const expressions = listOf(body["expressions"]);
    const others = Object.entries(body).filter(([key, value]) => key !== "expressions" && isPresent(value));
    if (second !== undefined || kind !== "select" || expressions.length !== 1 || others.length > 0) {
      throw untranslatable(`\`${sql}\` is more than one expression.`);
    }
    return expressions[0];
  };
}

/** Whether a field of the tree says anything. */
export const isPresent = (value: unknown): boolean =>
  value !== null &&
  value !== undefined &&
  value !== false &&
  value !== "" &&
  !(Array.isArray(value) && value.length === 0);
