import type { Dialect } from "@tandem/connectors";
import type { StatementVerdict } from "@tandem/protocol";
import type { CataloguedTable } from "../model/catalogued-table.ts";
import type { Model } from "../model/model.ts";
import { findDeviations } from "./deviation/find-deviations.ts";
import { examineStatement } from "./judge-statement.ts";
import { childrenOf, foldedName, kindOf, nameOf } from "./tree/sql-node.ts";
import { metricInstead } from "./rewrite/metric-instead.ts";
import { rewriteSelect } from "./rewrite/rewrite-select.ts";
import { type Verdict, type VerdictPart, verdictOf } from "./verdict.ts";

/** A table as a statement names it. */
export interface NamedTable {
  readonly schema: string | undefined;
  readonly name: string;
}

/** A parsed statement, which can be judged several times. */
export interface PreparedSql {
  /** The tables that it names. Named queries are among them. */
  readonly named: readonly NamedTable[];
  /** The verdict, without running it. `tables` are those of the named ones that are known. */
  judge(tables: readonly CataloguedTable[], model?: Model): Verdict;
  /** A replacement for a statement that counts rows twice, if known. It is always proven. */
  repair(tables: readonly CataloguedTable[], model?: Model): Promise<Pick<StatementVerdict, "instead" | "rewrite">>;
}

export async function prepareSql(sql: string, dialect: Dialect): Promise<PreparedSql | { reason: string }> {
  const parsed = await parseSql(sql, dialect);
  if ("reason" in parsed) return parsed;
  const { tree } = parsed;
  return {
    named: namedTables(tree, dialect),
    judge(tables, model) {
      const { verdict, outermost } = examineStatement(tree, dialect, tables);
      if (!outermost || !model) return verdict;
      return verdictOf([...verdict.parts, ...findDeviations(outermost.select, outermost.scope, model)]);
    },
    async repair(tables, model) {
      const { outermost } = examineStatement(tree, dialect, tables);
      if (!outermost) return {};
      const instead = model && metricInstead(outermost.select, outermost.scope, model);
      const rewrite = rewriteSelect({ sql, dialect, ...outermost });
      const isSound =
        rewrite !== undefined && (await judgeSql(rewrite, dialect, async () => tables)).verdict === "proven";
      return { ...(instead && { instead }), ...(isSound && { rewrite }) };
    },
  };
}

/** The verdict on the text of a statement, without running it. `read` finds the tables that it names, if they are known. */
export async function judgeSql(
  sql: string,
  dialect: Dialect,
  read: (names: readonly NamedTable[]) => Promise<readonly CataloguedTable[]>,
): Promise<Verdict> {
  const prepared = await prepareSql(sql, dialect);
  if ("reason" in prepared) return { verdict: "not_judged", parts: [], reason: prepared.reason };
  return prepared.judge(await read(prepared.named));
}

/** Differences of a statement's aggregates from the metrics that measure the same columns. */
export async function deviationsOf(sql: string, dialect: Dialect, model: Model): Promise<readonly VerdictPart[]> {
  const prepared = await prepareSql(sql, dialect);
  if ("reason" in prepared) return [];
  const tables = [...model.entities.values()].map(({ table }) => table);
  return prepared.judge(tables, model).parts.filter(({ kind }) => kind === "deviates");
}

function namedTables(node: unknown, dialect: Dialect): NamedTable[] {
  const { kind, body } = kindOf(node);
  const text = (value: unknown): string =>
    dialect === "postgres" ? foldedName(value, dialect) : (nameOf(value) ?? "");
  const own =
    kind === "table" ? [{ schema: body["schema"] ? text(body["schema"]) : undefined, name: text(body["name"]) }] : [];
  return [...own, ...childrenOf(node).flatMap((child) => namedTables(child, dialect))];
}

/** The tree of one statement. A reason as text if it is none, or several. */
async function parseSql(sql: string, dialect: Dialect): Promise<{ tree: unknown } | { reason: string }> {
  // Imported on demand, because the parser is large.
  const { Dialect: Parser, init, parse } = await import("@polyglot-sql/sdk");
  await init();
  const dialects = { sqlite: Parser.SQLite, postgres: Parser.PostgreSQL, duckdb: Parser.DuckDB, mysql: Parser.MySQL };
  const parsed = parse(sql, dialects[dialect]);
  if (!parsed.success || !Array.isArray(parsed.ast)) {
    return { reason: `It cannot be parsed: ${parsed.error ?? "unknown"}.` };
  }
  if (parsed.ast.length !== 1) return { reason: "It is more than one statement." };
  return { tree: parsed.ast[0] };
}
