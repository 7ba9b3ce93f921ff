import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { auditHash, GENESIS } from "../audit/audit-hash.ts";

export interface Rewrite {
  text: (text: string) => string;
  /** For integers. Returns values that are no times unchanged. */
  time: (ms: number) => number;
}

/**
 * Rewrites every text and time of a SQLite store that is not open, for a copy that moves to another folder or another time.
 * Hashes the audit again. Bytes, such as stored documents, stay as they are.
 */
export function rewriteSqlite(file: string, { text, time }: Rewrite): void {
  const database = new DatabaseSync(file);
  try {
    database.exec("begin");
    const tables = database
      .prepare(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' and name not like 'search_terms%'",
      )
      .all()
      .map(({ name }) => String(name));
    for (const name of tables) {
      const update = new Map<string, (values: SQLInputValue[]) => void>();
      for (const { row_id: id, ...row } of database.prepare(`select rowid as row_id, * from ${name}`).all()) {
        const changed = Object.entries(row).flatMap(([column, old]) => {
          const value = typeof old === "string" ? text(old) : typeof old === "number" ? time(old) : old;
          return value === old ? [] : [[column, value] as const];
        });
        if (changed.length === 0) continue;
        const columns = changed.map(([column]) => `${column} = ?`).join(", ");
        const statement =
          update.get(columns) ?? prepareUpdate(database, `update ${name} set ${columns} where rowid = ?`);
        update.set(columns, statement);
        statement([...changed.map(([, value]) => value), id!]);
      }
    }
    hashAudit(database);
    database.exec("commit");
  } finally {
    database.close();
  }
}

function prepareUpdate(database: DatabaseSync, statement: string): (values: SQLInputValue[]) => void {
  const prepared = database.prepare(statement);
  return (values) => void prepared.run(...values);
}

function hashAudit(database: DatabaseSync): void {
  const store = database.prepare("update audit set previous = ?, hash = ? where seq = ?");
  let previous = GENESIS;
  for (const row of database.prepare("select seq, at, actor, kind, session, details from audit order by seq").all()) {
    const hash = auditHash(previous, {
      seq: Number(row["seq"]),
      at: new Date(Number(row["at"])).toISOString(),
      actor: String(row["actor"]),
      kind: String(row["kind"]),
      session: row["session"] === null ? null : String(row["session"]),
      details: JSON.parse(String(row["details"])),
    });
    store.run(previous, hash, Number(row["seq"]));
    previous = hash;
  }
  database.prepare("update audit_head set hash = ?").run(previous);
}
