import { connectedTo, startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { PostgresServer } from "@tandem/storage/postgres";
import { expect, test } from "vitest";
import { nextRuns } from "../testing/next-runs.ts";
import { openPostgresQueue } from "./open-postgres-queue.ts";
import { findRunnable, SCHEMA, take } from "./queue-statements.ts";

const ROUNDS = 60;
const TENANTS = ["a", "b", "c", "d"];
/** Below the number of runs, so that fairness decides which of them are taken. */
const ROOMS = [1, 2, 3, 5, 8];

const upTo = (most: number): number => Math.floor(Math.random() * (most + 1));

test.skipIf(whyNoPostgres())("the statement that takes runs chooses the same ones as the embedded queue", async () => {
  await using postgres = await startPostgres();
  const url = await postgres.createDatabase();
  await using _queue = await openPostgresQueue(url);
  await using server = new PostgresServer(url);
  for (let round = 0; round < ROUNDS; round += 1) {
    await connectedTo(url, async (query) => {
      await query("delete from tandem_queue.run");
      const insert = (key: string, state: string, kind: string, tenant: string, priority: number, age: number) =>
        query(
          `insert into tandem_queue.run (key, tenant, state, kind, place, priority, sent_at)
           values ('${key}', '${tenant}', '${state}', '${kind}', 'any', ${priority}, now() - ${age} * interval '1 second')`,
        );
      for (const tenant of TENANTS) {
        for (let index = upTo(3); index > 0; index -= 1) await insert(`r${index}`, "running", "session", tenant, 0, 0);
        for (let index = upTo(6); index > 0; index -= 1) {
          // Times differ, so that the order is total.
          const age = index * 10 + TENANTS.indexOf(tenant) + Math.random();
          await insert(`w${index}`, "waiting", upTo(3) === 0 ? "job" : "session", tenant, upTo(1), age);
        }
      }
    });
    const tenants = TENANTS.map((tenant, index) => ({
      tenant,
      most: upTo(1) === 0 ? null : upTo(4),
      served: upTo(1) * (index + 1),
    }));
    const of = (name: string) => tenants.find(({ tenant }) => tenant === name)!;
    for (const room of ROOMS) {
      const found = await server.use(SCHEMA, (execute) => execute(findRunnable(["any"], TENANTS, 100)));
      const candidates = (found as { key: string; tenant: string }[]).map((row) => ({
        ...(row as never as Parameters<typeof nextRuns>[0][number]),
        key: row.key,
        served: of(row.tenant).served,
      }));
      const expected = nextRuns(candidates, room, (tenant) => of(tenant).most ?? Infinity);
      const taken = await server.transactionAtOnce(SCHEMA, [
        take({ places: ["any"], tenants, room, silentSeconds: 10 }),
      ]);
      const names = (runs: readonly unknown[]): string[] =>
        (runs as { tenant: string; key: string }[]).map(({ tenant, key }) => `${tenant} ${key}`).toSorted();
      expect(names(taken)).toEqual(names(expected));
    }
  }
});
