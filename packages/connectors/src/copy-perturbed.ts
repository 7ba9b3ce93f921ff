import { statSync } from "node:fs";
import { ConnectionError } from "./connection-error.ts";
import type { TableName, Value } from "./connection.ts";
import type { DatabaseLocation } from "./database-location.ts";
import type { CopyStatement } from "./copy-statement.ts";

/** A change of every n-th row of a table, counted in the order of the rows in the file. */
interface RowChange {
  table: TableName;
  every: number;
  /** `remove`, or columns with their new values. */
  change: "remove" | Readonly<Record<string, Value>>;
}

/** A reference whose rows are removed with the row that they refer to. */
export interface RowReference {
  from: TableName;
  columns: readonly string[];
  to: TableName;
  toColumns: readonly string[];
}

export interface PerturbedCopy {
  location: Extract<DatabaseLocation, { driver: "sqlite" | "duckdb" }>;
  /** The new file; must not exist. */
  target: string;
  changes: readonly RowChange[];
  references: readonly RowReference[];
}

/** A copy takes time and disk. */
const MOST_BYTES = 256 * 1_024 * 1_024;
/** Rounds of removals; references can form cycles. */
const MOST_ROUNDS = 10;

/** Copies a file database and changes rows of the copy. The original is only read. */
export async function copyPerturbed(copy: PerturbedCopy): Promise<void> {
  const { path, driver } = copy.location;
  const { size } = statSync(path);
  if (size > MOST_BYTES) {
    throw new ConnectionError("query_refused", `The database has ${size} bytes; copies are made up to ${MOST_BYTES}.`, {
      fix: "Remove `perturb` from the evals, or use a smaller sample of the database.",
    });
  }
  const { copyFile } =
    driver === "sqlite" ? await import("./sqlite/copy-sqlite.ts") : await import("./duckdb/copy-duckdb.ts");
  await copyFile(path, copy.target, [...copy.changes.map(changeRows), ...removeOrphans(copy)]);
}

const changeRows = ({ table, every, change }: RowChange): CopyStatement => {
  const chosen = `rowid IN (SELECT r FROM (SELECT rowid AS r, row_number() OVER (ORDER BY rowid) AS n FROM ${named(table)}) WHERE n % ${every} = 0)`;
  if (change === "remove") return { sql: `DELETE FROM ${named(table)} WHERE ${chosen}`, parameters: [] };
  const columns = Object.keys(change).map((column) => `${quote(column)} = ?`);
  return {
    sql: `UPDATE ${named(table)} SET ${columns.join(", ")} WHERE ${chosen}`,
    parameters: Object.values(change),
  };
};

/** Rows that refer to a removed row, and those that refer to them. */
function removeOrphans({ changes, references }: PerturbedCopy): CopyStatement[] {
  const statements: CopyStatement[] = [];
  let tables = new Set(changes.filter(({ change }) => change === "remove").map(({ table }) => named(table)));
  for (let round = 0; tables.size > 0 && round < MOST_ROUNDS; round += 1) {
    const next = new Set<string>();
    for (const { from, columns, to, toColumns } of references) {
      if (!tables.has(named(to)) || named(from) === named(to)) continue;
      const refers = columns.map((column) => `child.${quote(column)} IS NOT NULL`).join(" AND ");
      const same = columns
        .map((column, index) => `parent.${quote(toColumns[index]!)} = child.${quote(column)}`)
        .join(" AND ");
      statements.push({
        sql: `DELETE FROM ${named(from)} AS child WHERE ${refers} AND NOT EXISTS (SELECT 1 FROM ${named(to)} AS parent WHERE ${same})`,
        parameters: [],
      });
      next.add(named(from));
    }
    tables = next;
  }
  return statements;
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const named = ({ schema, name }: TableName): string => `${quote(schema)}.${quote(name)}`;
