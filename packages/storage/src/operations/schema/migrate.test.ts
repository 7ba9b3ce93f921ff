import { expect, test } from "vitest";
import { Refusal } from "../../refusal.ts";
import { one, perform, raw, sql, type Work } from "../../sql-statement.ts";
import { SqliteConnection } from "../../sqlite/sqlite-connection.ts";
import { WORKER_ALIVE_MS } from "../../worker-store.ts";
import { migrate, schemaVersion } from "./migrate.ts";
import { MIGRATIONS, SQLITE, type Migration } from "./migrations.ts";

const NOW = MIGRATIONS.length;
const expanding: Migration = { compatible: true, statements: () => ["alter table session add column mood text"] };
const breaking: Migration = { compatible: false, statements: () => ["alter table session drop column place"] };

/**
 * A current database with workers: `schema` is their version relative to `NOW`, `silentMs` the time since their last
 * beat.
 */
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

/** One transaction, as in a real database. */
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

test("applies a compatible upgrade beside workers of the previous version", () => {
  using connection = open({ schema: NOW });
  expect(upgrade(connection, [...MIGRATIONS, expanding])).toBe(NOW + 1);
  expect(columns(connection)).toContain("mood");
  // The older code sees the newer version, also when it restarts.
  expect(run(connection, schemaVersion(NOW))).toBe(NOW + 1);
  expect(upgrade(connection, MIGRATIONS)).toBe(NOW + 1);
  expect(run(connection, one(sql`select compatible from schema_version where version = ${NOW + 1}`))).toEqual({
    compatible: 1,
  });
});

test("refuses a breaking upgrade while an affected worker lives, names it, and succeeds once it is gone", () => {
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

test("refuses to skip two versions for a living worker, even if each is compatible", () => {
  using connection = open({ schema: NOW });
  const twice: Migration = { compatible: true, statements: () => ["alter table session add column weather text"] };
  expect(upgrade(connection, [...MIGRATIONS, expanding, twice])).toMatchObject({ code: "older_workers_alive" });
  connection.run(`update worker set schema = ${NOW + 1}`);
  expect(upgrade(connection, [...MIGRATIONS, expanding, twice])).toBe(NOW + 2);
  expect(run(connection, schemaVersion(NOW + 1))).toBe(NOW + 2);
  expect(() => run(connection, schemaVersion(NOW))).toThrow(Refusal);
});

test("creates shared tables only in the shared schema", () => {
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

test("tokens in the page's cookies of 0.1.0 are no longer valid as tokens; others are", () => {
  using connection = new SqliteConnection(":memory:", { readOnly: false });
  run(connection, migrate(SQLITE, MIGRATIONS.slice(0, 6)));
  for (const [id, name, scopes] of [
    ["cookie", "page", '["admin"]'],
    ["local", "local", '["admin"]'],
    ["reader", "page", '["read"]'],
  ]) {
    connection.run(`insert into token (id, name, sha256, scopes, created_at, tenant)
      values ('${id}', '${name}', 'hash of ${id}', '${scopes}', 0, 'default')`);
  }
  upgrade(connection, MIGRATIONS.slice(0, 7));
  expect(connection.execute(raw("select sha256 from token order by id"))).toEqual([
    { sha256: "cookie:hash of cookie" },
    { sha256: "hash of local" },
    { sha256: "hash of reader" },
  ]);
});
