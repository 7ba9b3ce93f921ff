import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { message, sessionRow, tenantRow } from "../contract/samples.ts";
import { collect, numbers } from "../contract/storage-stage.ts";
import { openStore } from "../open-store.ts";
import { startPgBouncer, whyNoPgBouncer, type TestPgBouncer } from "../testing/pgbouncer.ts";
import { startPostgres, whyNoPostgres, type TestPostgres } from "../testing/postgres.ts";

const missing = whyNoPostgres() ?? whyNoPgBouncer();

describe.skipIf(missing)(`PgBouncer${missing ? ` (skipped: ${missing})` : ""}`, () => {
  let postgres: TestPostgres;
  let transactions: TestPgBouncer;
  let sessions: TestPgBouncer;
  beforeAll(async () => {
    postgres = await startPostgres();
    const url = await postgres.createDatabase();
    transactions = await startPgBouncer(url, { mode: "transaction" });
    sessions = await startPgBouncer(url, { mode: "session", poolSize: 30 });
  });
  afterAll(async () => {
    await transactions[Symbol.asyncDispose]();
    await sessions[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  });

  test("in transaction mode needs an address without it, and the error names the setting", async () => {
    const url = await postgres.createDatabase();
    const pooled = transactions.pooled(url);
    await expect(openStore(pooled)).rejects.toMatchObject({
      code: "pooled_connection",
      fix: expect.stringContaining("storage.directUrl"),
    });
    await expect(openStore(pooled, { directUrl: pooled })).rejects.toMatchObject({
      code: "pooled_connection",
      message: expect.stringContaining("storage.directUrl"),
    });
    const other = await postgres.createDatabase();
    await expect(openStore(pooled, { directUrl: other })).rejects.toMatchObject({ code: "wrong_direct_url" });
  });

  test("is found in transaction mode with any number of idle connections", async () => {
    const url = await postgres.createDatabase();
    const pooled = transactions.pooled(url);
    for (const _ of numbers(3)) {
      await using store = await openStore(pooled, { directUrl: url });
      await Promise.all(numbers(4).map(() => store.sessions.list({ limit: 1 })));
      await expect(openStore(pooled)).rejects.toMatchObject({ code: "pooled_connection" });
    }
  });

  test("in transaction mode keeps tenants apart that share its connections", async () => {
    const url = await postgres.createDatabase();
    await using store = await openStore(transactions.pooled(url), { directUrl: url });
    for (const id of ["one", "two"]) await store.tenants.create(tenantRow({ id }));
    const stores = [store, await store.tenant("one"), await store.tenant("two")];
    await Promise.all(
      numbers(60).map(async (number) => {
        const tenant = stores[number % 3]!;
        await tenant.sessions.create(sessionRow({ title: `of ${number % 3}` }), []);
      }),
    );
    for (const [number, tenant] of stores.entries()) {
      const { data } = await tenant.sessions.list({ limit: 100 });
      expect(data.map(({ title }) => title)).toEqual(numbers(20).map(() => `of ${number}`));
    }
  });

  test.each(["transaction", "session"] as const)("followers hear of events in %s mode", async (mode) => {
    const url = await postgres.createDatabase();
    const open = () =>
      mode === "session" ? openStore(sessions.pooled(url)) : openStore(transactions.pooled(url), { directUrl: url });
    await using writer = await open();
    await using reader = await open();
    const row = sessionRow();
    await writer.sessions.create(row, []);
    const lease = (await writer.leases.take(row.id, "test", 60_000))!;
    const heard = collect(reader, row.id, 0, 20);
    for (const number of numbers(20)) {
      await writer.events.append(lease, [{ thread: null, event: message(String(number)) }]);
    }
    expect((await heard).map(({ seq }) => seq)).toEqual(numbers(20));
  });
});
