import { Client, type ClientConfig } from "pg";
import { migrate } from "../operations/schema/migrate.ts";
import { POSTGRES, POSTGRES_SCHEMA, schemaOf } from "../operations/schema/migrations.ts";
import { markTenant, noSuchTenant } from "../operations/tenants.ts";
import { one, performAsync, raw, sql, type Work } from "../sql-statement.ts";
import { translate } from "./translate-postgres-error.ts";
import { on } from "./postgres-server.ts";

/** Arbitrary advisory lock key: of several processes that open an empty database at once, one migrates it. */
const MIGRATION_LOCK = 7_306_181_992;
/** Migrating a lot of data takes long, while other processes wait. */
const MAX_MS = 3_600_000;
/** Waiting for a table lock blocks all later statements on that table, so give up early. */
const TABLE_LOCK_MS = 10_000;
/** Longer than elsewhere: no session depends on these locks yet, and startup on a busy machine is slow. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** Migrates the shared tables or a tenant's own, in one transaction on its own connection. */
export async function migrateSchema(config: ClientConfig, tenant?: string): Promise<void> {
  const client = new Client({ ...config, query_timeout: MAX_MS });
  // The running statement reports the failure; without a listener the event would crash the process.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(
      `begin; set local search_path to ${POSTGRES_SCHEMA}; set local statement_timeout = ${MAX_MS}; set local lock_timeout = ${MAX_MS};
      set local idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
    );
    await performAsync(tenant === undefined ? migrateShared() : migrateTenant(tenant), on(client));
    await client.query("commit");
  } catch (error) {
    throw translate(error);
  } finally {
    await client.end().catch(() => {});
  }
}

function* migrateShared(): Work<void> {
  yield* prepare(POSTGRES_SCHEMA);
  yield* migrate(POSTGRES);
}

function* migrateTenant(id: string): Work<void> {
  yield* prepare(schemaOf(id), function* () {
    // Lock the row until the commit, so that the tenant is not deleted while its tables are created.
    if (!(yield* one(sql`select 1 from tenant where id = ${id} for update`))) throw noSuchTenant(id);
  });
  const version = yield* migrate({ ...POSTGRES, isShared: false });
  yield raw(`set local search_path to ${POSTGRES_SCHEMA}`);
  yield* markTenant.work({ id, schema: version });
}

function* prepare(schema: string, first?: () => Work<void>): Work<void> {
  yield sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
  yield raw(`set local lock_timeout = ${TABLE_LOCK_MS}`);
  if (first) yield* first();
  const found = yield* one(sql`select 1 from pg_namespace where nspname = ${schema}`);
  if (!found) yield raw(`create schema "${schema}"`);
  yield raw(`set local search_path to "${schema}"`);
}
