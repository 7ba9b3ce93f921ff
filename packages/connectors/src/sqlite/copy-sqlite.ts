import { DatabaseSync } from "node:sqlite";
import type { CopyStatement } from "../copy-statement.ts";

/** `VACUUM INTO` copies a consistent state, including changes that are still in the write-ahead log. */
export async function copyFile(path: string, target: string, statements: readonly CopyStatement[]): Promise<void> {
  {
    using source = new DatabaseSync(path, { readOnly: true });
    source.prepare("VACUUM INTO ?").run(target);
  }
  using copy = new DatabaseSync(target, { enableForeignKeyConstraints: false });
  // The copy is thrown away after the run.
  copy.exec("PRAGMA synchronous = OFF; BEGIN");
  for (const { name } of copy.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()) {
    copy.exec(`DROP TRIGGER "${String(name).replaceAll('"', '""')}"`);
  }
  for (const { sql, parameters } of statements) {
    copy.prepare(sql).run(...parameters.map((value) => (typeof value === "boolean" ? Number(value) : value)));
  }
  copy.exec("COMMIT");
}
