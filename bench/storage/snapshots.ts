import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { SessionEvent } from "@tandem/protocol";

/**
 * Cost of the same turns if each change stores the whole turn so far. It is the kindest
 * form of that scheme: no row for a delta, none for the session.
 */
export function snapshotBytes(file: string, turns: readonly (readonly SessionEvent[])[]): number {
  using database = new DatabaseSync(file);
  database.exec(
    "create table event (session integer, seq integer, id text, type text, body text, primary key (session, seq))",
  );
  database.exec("begin");
  const insert = database.prepare("insert into event values (1, ?, ?, ?, ?)");
  let seq = 0;
  for (const turn of turns) {
    for (const [index, event] of turn.entries()) {
      seq += 1;
      insert.run(seq, event.id, event.type, JSON.stringify(turn.slice(0, index + 1)));
    }
  }
  database.exec("commit");
  return statSync(file).size;
}
