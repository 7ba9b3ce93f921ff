import { expect, test } from "vitest";
import { Refusal } from "../refusal.ts";
import { one, perform, raw, sql, type Work } from "../sql.ts";
import { SqliteConnection } from "../sqlite/sqlite-connection.ts";
import { WORKER_ALIVE_MS } from "../worker-store.ts";
import { migrate, schemaVersion } from "./migrate.ts";
import { MIGRATIONS, SQLITE, type Migration } from "./migrations.ts";

const NOW = MIGRATIONS.length;
const expanding: Migration = { compatible: true, statements: () => ["alter table session add column mood text"] };
const breaking: Migration = { compatible: false, statements: () => ["alter table session drop column place"] };

/** A database of this schema, with workers: how many versions they are behind `NOW`, and for how long they are silent. */
function open(...workers: { schema: number; silentMs?: number }[]): SqliteConnection {
  const connection = new SqliteConnection(":memory:", { readOnly: false });
  run(connection, migrate(SQLITE));
  for (const [index, { schema, silentMs = 0 }] of workers.entries()) {
    connection.run(`insert into worker (id, holder, schema, started_at, seen_at, body)
      values ('w${index}', 'host ${index}', ${schema}, 0, ${Date.now() - silentMs}, '{}')`);
  }
  return connection;
}

const run = <T>(connection: SqliteConnection, work: Work<T>): T =>
  perform(work, (statement) => connection.execute(statement));

/** As a database does it: all or nothing. */
function upgrade(connection: SqliteConnection, migrations: readonly Migration[]): unknown {
  connection.run("begin");
  try {
    const version = run(connection, migrate(SQLITE, migrations));
    connection.run("commit");
    return version;
  } catch (error) {
    connection.run("rollback");
    return error instanceof Refusal ? error.reason : error;
  }
}

const columns = (connection: SqliteConnection): string[] =>
  connection.execute(raw("select name from pragma_table_info('session')")).map((row) => (row as { name: string }).name);

test("an upgrade that older code can live with is made beside workers of the version before, which go on", () => {
  using connection = open({ schema: NOW });
  expect(upgrade(connection, [...MIGRATIONS, expanding])).toBe(NOW + 1);
  expect(columns(connection)).toContain("mood");
  // What the older code sees, and what it does when it starts anew.
  expect(run(connection, schemaVersion(NOW))).toBe(NOW + 1);
  expect(upgrade(connection, MIGRATIONS)).toBe(NOW + 1);
  expect(run(connection, one(sql`select compatible from schema_version where version = ${NOW + 1}`))).toEqual({
    compatible: 1,
  });
});

test("one that would break a worker that lives is refused, and says whom to stop; when it is gone, it is made", () => {
  using connection = open({ schema: NOW }, { schema: NOW + 1 });
  expect(upgrade(connection, [...MIGRATIONS, breaking])).toMatchObject({
    code: "older_workers_alive",
    message: expect.stringMatching(/schema \d+ would break: host 0 \(schema \d+\)\.$/),
    fix: expect.stringContaining("SIGTERM"),
  });
  expect(columns(connection)).toContain("place");
  connection.run(`update worker set seen_at = ${Date.now() - WORKER_ALIVE_MS - 1_000}`);
  expect(upgrade(connection, [...MIGRATIONS, breaking])).toBe(NOW + 1);
  expect(columns(connection)).not.toContain("place");
  expect(() => run(connection, schemaVersion(NOW))).toThrow(Refusal);
});

test("two versions at once are too far for the older code, though each by itself could be lived with", () => {
  using connection = open({ schema: NOW });
  const twice: Migration = { compatible: true, statements: () => ["alter table session add column weather text"] };
  expect(upgrade(connection, [...MIGRATIONS, expanding, twice])).toMatchObject({ code: "older_workers_alive" });
  connection.run(`update worker set schema = ${NOW + 1}`);
  expect(upgrade(connection, [...MIGRATIONS, expanding, twice])).toBe(NOW + 2);
  expect(run(connection, schemaVersion(NOW + 1))).toBe(NOW + 2);
  expect(() => run(connection, schemaVersion(NOW))).toThrow(Refusal);
});

test("a tenant's own tables have nothing that is shared, and the shared ones have all", () => {
  const tables = (isShared: boolean): string[] => {
    using connection = new SqliteConnection(":memory:", { readOnly: false });
    run(connection, migrate({ ...SQLITE, isShared }));
    const rows = connection.execute(raw("select name from sqlite_schema where type = 'table'"));
    return rows.map((row) => (row as { name: string }).name);
  };
  const [all, own] = [tables(true), new Set(tables(false))];
  expect(all.filter((name) => !own.has(name)).toSorted()).toEqual(["tenant", "token", "worker"]);
  expect([...own]).toEqual(expect.arrayContaining(["session", "log", "event", "audit", "schema_version"]));
});
