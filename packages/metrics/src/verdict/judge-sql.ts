import type { Dialect } from "@tandem/connectors";
import type { CataloguedTable } from "../model/catalogued-table.ts";
import { judgeStatement } from "./judge-statement.ts";
import { parseSql } from "./parse-sql.ts";
import { childrenOf, kindOf, nameOf } from "./sql-node.ts";
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
  return judgeStatement(parsed.tree, await read(namedTables(parsed.tree)));
}

function namedTables(node: unknown): NamedTable[] {
  const { kind, body } = kindOf(node);
  const own = kind === "table" ? nameOf(body["name"]) : undefined;
  const found = own === undefined ? [] : [{ schema: nameOf(body["schema"]), name: own }];
  return [...found, ...childrenOf(node).flatMap(namedTables)];
}
