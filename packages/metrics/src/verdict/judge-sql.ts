import type { Dialect } from "@tandem/connectors";
import type { CataloguedTable } from "../model/catalogued-table.ts";
import { judgeStatement } from "./judge-statement.ts";
import { parseSql } from "./parse-sql.ts";
import { childrenOf, foldedName, kindOf, nameOf } from "./sql-node.ts";
import type { Verdict } from "./verdict.ts";

/** A table as a statement names it. */
export interface NamedTable {
  readonly schema: string | undefined;
  readonly name: string;
}

/** The verdict on the text of a statement, without running it. `read` finds the tables that it names, if they are known. */
export async function judgeSql(
  sql: string,
  dialect: Dialect,
  read: (names: readonly NamedTable[]) => Promise<readonly CataloguedTable[]>,
): Promise<Verdict> {
  const parsed = await parseSql(sql, dialect);
  if ("reason" in parsed) return { verdict: "not_judged", parts: [], reason: parsed.reason };
  return judgeStatement(parsed.tree, dialect, await read(namedTables(parsed.tree, dialect)));
}

function namedTables(node: unknown, dialect: Dialect): NamedTable[] {
  const { kind, body } = kindOf(node);
  const text = (value: unknown): string =>
    dialect === "postgres" ? foldedName(value, dialect) : (nameOf(value) ?? "");
  const own =
    kind === "table" ? [{ schema: body["schema"] ? text(body["schema"]) : undefined, name: text(body["name"]) }] : [];
  return [...own, ...childrenOf(node).flatMap((child) => namedTables(child, dialect))];
}
