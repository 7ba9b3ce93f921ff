import type { Connection } from "@tandem/connectors";
import type { CataloguedTable } from "@tandem/metrics";

/** A check counts for this long. */
const VALID_MS = 60_000;

type Outcome = "holds" | "broken" | "unchecked";

const checked = new WeakMap<Connection, Map<string, { outcome: Outcome; at: number }>>();

/**
 * Tables with those of their unenforced keys that are still unique. `ask` returns the first row of a statement, none if there is
 * none, and undefined if it took too long.
 */
export async function recheckKeys(
  tables: readonly CataloguedTable[],
  connection: Connection,
  ask: (sql: string) => Promise<readonly unknown[] | undefined>,
): Promise<{ tables: CataloguedTable[]; notes: string[] }> {
  const notes: string[] = [];
  const trusted: CataloguedTable[] = [];
  for (const table of tables) {
    const doubtful = new Set<readonly string[]>();
    for (const key of table.observedKeys ?? []) {
      const outcome = await check(table, key, connection, ask);
      if (outcome === "holds") continue;
      doubtful.add(key);
      const text = `(${key.join(", ")}) of ${table.schema}.${table.name}`;
      notes.push(
        outcome === "broken"
          ? `${text} was unique at the last scan and no longer is.`
          : `${text} was unique at the last scan, no constraint enforces it, and it could not be checked in time.`,
      );
    }
    trusted.push(doubtful.size === 0 ? table : { ...table, keys: table.keys.filter((key) => !doubtful.has(key)) });
  }
  return { tables: trusted, notes };
}

async function check(
  { schema, name }: CataloguedTable,
  key: readonly string[],
  connection: Connection,
  ask: (sql: string) => Promise<readonly unknown[] | undefined>,
): Promise<Outcome> {
  const known = checked.get(connection) ?? new Map<string, { outcome: Outcome; at: number }>();
  checked.set(connection, known);
  const columns = key.map((column) => connection.quote(column));
  const sql = [
    `SELECT 1 FROM ${connection.quote(schema)}.${connection.quote(name)}`,
    `WHERE ${columns.map((column) => `${column} IS NOT NULL`).join(" AND ")}`,
    `GROUP BY ${columns.join(", ")} HAVING COUNT(*) > 1 LIMIT 1`,
  ].join(" ");
  const last = known.get(sql);
  if (last && performance.now() - last.at < VALID_MS) return last.outcome;
  const row = await ask(sql);
  const outcome = row === undefined ? "unchecked" : row.length === 0 ? "holds" : "broken";
  if (outcome !== "unchecked") known.set(sql, { outcome, at: performance.now() });
  return outcome;
}
