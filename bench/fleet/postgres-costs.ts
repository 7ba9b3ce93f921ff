import type { TestPostgres } from "@tandem/storage/testing";
import { createRequire } from "node:module";
import type { Client as PgClient } from "pg";
import { z } from "zod";

// The bench has no dependencies of its own; the store's is the one.
const { Client } = createRequire(import.meta.resolve("@tandem/storage"))("pg") as { Client: typeof PgClient };

const counts = z.object({
  /** Those that were begun: most that write, and each waits for the disk once. */
  transactions: z.coerce.number(),
  writes: z.coerce.number(),
  walBytes: z.coerce.number(),
  statements: z.coerce.number(),
  queueStatements: z.coerce.number(),
  notifications: z.coerce.number(),
  bytes: z.coerce.number(),
});
export type Costs = z.infer<typeof counts>;

/** Lets a Postgres count its statements, which takes a restart. */
export async function countStatements(postgres: TestPostgres, database: string): Promise<void> {
  await ask(database, "alter system set shared_preload_libraries = 'pg_stat_statements'");
  await ask(database, "alter system set pg_stat_statements.track = 'all'");
  await postgres.kill();
  await postgres.start();
  await ask(database, "create extension pg_stat_statements");
}

/** All statements so far, without those of this measurement. */
export async function costsSoFar(database: string): Promise<Costs> {
  const [row] = await ask(
    database,
    `select
       (select coalesce(sum(calls), 0) from pg_stat_statements where toplevel and query = 'commit') as transactions,
       (select coalesce(sum(calls), 0) from pg_stat_statements where toplevel and query ~* '^\\s*(insert|update|delete|with)') as writes,
       (select wal_bytes from pg_stat_wal) as "walBytes",
       (select coalesce(sum(calls), 0) from pg_stat_statements where toplevel) as statements,
       (select coalesce(sum(calls), 0) from pg_stat_statements where toplevel and query ilike '%tandem_queue%') as "queueStatements",
       (select coalesce(sum(calls), 0) from pg_stat_statements where query ilike '%pg_notify(%' and query not ilike '%create %') as notifications,
       pg_database_size(current_database()) as bytes`,
  );
  return counts.parse(row);
}

export const costsBetween = (before: Costs, after: Costs): Costs =>
  counts.parse(
    Object.fromEntries(Object.entries(after).map(([key, value]) => [key, value - before[key as keyof Costs]])),
  );

/** The most frequent statements. */
export async function mostAsked(database: string): Promise<string[]> {
  const rows = await ask(
    database,
    "select calls, left(regexp_replace(query, '\\s+', ' ', 'g'), 120) as query from pg_stat_statements where toplevel order by calls desc limit 25",
  );
  return rows.map((row) => `${String(row["calls"])}  ${String(row["query"])}`);
}

async function ask(database: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client(database);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
