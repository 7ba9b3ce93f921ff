import { operation } from "../../operation.ts";
import { Refusal } from "../../refusal.ts";
import { all, insert, one, raw, sql, type Work } from "../../sql-statement.ts";
import type { Dialect } from "./dialect.ts";
import { MIGRATIONS, SCHEMA_VERSION, type Migration } from "./migrations.ts";
import { livingWorkers, type LivingWorker } from "../workers.ts";

/** From this version on, the `compatible` column and the worker table exist. */
const FLEET_VERSION = 6;

/** Migrates the tables in one transaction. Returns their version, which may be one newer than this code knows. */
export function* migrate(dialect: Dialect, migrations: readonly Migration[] = MIGRATIONS): Work<number> {
  yield raw(
    `create table if not exists schema_version (version ${dialect.int} primary key, applied_at ${dialect.int} not null)`,
  );
  const known = migrations.length;
  const found = yield* schemaVersion(known);
  if (found >= known) return found;
  if (dialect.isShared && found >= FLEET_VERSION) refuseToBreak(yield* livingWorkers(), found, migrations);
  for (const [index, { compatible, statements }] of migrations.entries()) {
    if (index < found) continue;
    for (const statement of statements(dialect)) yield raw(statement);
    const version = index + 1;
    const more: Record<string, number> = version < FLEET_VERSION ? {} : { compatible: compatible ? 1 : 0 };
    yield insert("schema_version", [{ version, applied_at: Date.now(), ...more }]);
  }
  return known;
}

/** Code works with the next compatible version only, never with two versions ahead. */
function refuseToBreak(workers: readonly LivingWorker[], found: number, migrations: readonly Migration[]): void {
  const target = migrations.length;
  const oldest = migrations[target - 1]!.compatible ? target - 1 : target;
  const broken = workers.filter(({ schema }) => schema < oldest);
  if (broken.length === 0) return;
  const names = broken.map(({ holder, schema }) => `${holder} (schema ${schema})`).join(", ");
  throw new Refusal({
    type: "tandem",
    code: "older_workers_alive",
    message: `The database has schema ${found}, and processes work on it that schema ${target} would break: ${names}.`,
    fix: "Stop them first: SIGTERM makes each hand over what it does. Then start this Tandem again.",
  });
}

/**
 * Version of the existing tables; 0 if there are none. One version newer than this code is accepted if it is marked
 * compatible; anything newer is rejected.
 */
export function* schemaVersion(known = SCHEMA_VERSION): Work<number> {
  const row = yield* one(sql<{ version: number | null }>`select max(version) as version from schema_version`);
  const version = row?.version ?? 0;
  if (version <= known) return version;
  // Every schema newer than `FLEET_VERSION` has this column.
  const newer = yield* all(sql<{ compatible: number }>`select compatible from schema_version where version > ${known}`);
  if (version === known + 1 && newer[0]!.compatible === 1) return version;
  throw new Refusal({
    type: "tandem",
    code: "schema_too_new",
    message: `The database has schema ${version}; this Tandem knows schemas up to ${known}.`,
    fix: "Use the newer Tandem that made it, or another database.",
  });
}

export const readSchema = operation("store.schema", function* (): Work<number> {
  return yield* schemaVersion();
});
