import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { newId, type SessionId } from "@tandem/protocol";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { message, sessionRow, tenantRow, textOf } from "../contract/samples.ts";
import { collect, numbers, until } from "../contract/storage-stage.ts";
import { openStore } from "../open-store.ts";
import { findAbandoned, findUnclaimed, listHeld } from "../operations/leases.ts";
import { SCHEMA_VERSION } from "../operations/schema/migrations.ts";
import { listSessions } from "../operations/sessions.ts";
import type { Operation } from "../operation.ts";
import { performAsync, type Sql } from "../sql-statement.ts";
import type { Store } from "../store.ts";
import type { Lease } from "../lease.ts";
import { startPostgres, whyNoPostgres, type TestPostgres } from "../testing/postgres.ts";
import { startWriter } from "../testing/writer.ts";
import { PostgresServer } from "./postgres-server.ts";

const missing = whyNoPostgres();

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, options: "-c search_path=tandem" });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const append = (store: Store, lease: Lease, text: string) =>
  store.events.append(lease, [{ thread: null, event: message(text) }]);

describe.skipIf(missing)(
  `Postgres shared by many processes and tenants${missing ? ` (skipped: ${missing})` : ""}`,
  () => {
    let postgres: TestPostgres;
    beforeAll(async () => {
      postgres = await startPostgres();
    });
    afterAll(() => postgres[Symbol.asyncDispose]());

    test("a writer suspended inside a transaction does not block its session for long", async () => {
      const url = await postgres.createDatabase();
      await using store = await openStore(url);
      const row = sessionRow();
      await store.sessions.create(row, []);
      const lease = (await store.leases.take(row.id, "halted", 1_000))!;
      await using writer = startWriter(url, lease);
      await writer.acknowledged();
      const isLocked = (): Promise<boolean> =>
        query(url, `select 1 from log where session = '${row.id}' for update nowait`).then(
          () => false,
          () => true,
        );
      await until(async () => {
        writer.signal("SIGSTOP");
        // Checked twice: by then the server has finished the statement that was in flight.
        if ((await isLocked()) && (await isLocked())) return true;
        writer.signal("SIGCONT");
        return undefined;
      });
      const begun = performance.now();
      const taken = await until(() => store.leases.take(row.id, "next", 60_000).catch(() => undefined));
      expect(performance.now() - begun).toBeLessThan(15_000 * inject("slowness"));
      const head = await store.events.head(row.id);
      expect((await append(store, taken, "goes on"))[0]!.seq).toBe(head + 1);
      writer.signal("SIGCONT");
      await until(() =>
        writer.acknowledged().then(
          () => undefined,
          () => true,
        ),
      );
      expect(await store.events.head(row.id)).toBe(head + 1);
    });

    test("a renewal without an answer gives its connection up after the time of the lease", async () => {
      await using store = await openStore(await postgres.createDatabase());
      const row = sessionRow();
      await store.sessions.create(row, []);
      const lease = (await store.leases.take(row.id, "cut off", 60_000))!;
      using _ = postgres.pause();
      const began = performance.now();
      await expect(store.leases.renew([lease], 200)).rejects.toMatchObject({ code: "unavailable" });
      expect(performance.now() - began).toBeLessThan(10_000 * inject("slowness"));
    });

    test("a dead connection for notifications is noticed within seconds, and replaced", async () => {
      await using server = new PostgresServer(await postgres.createDatabase());
      const connected = vi.fn<() => void>();
      const listener = server.listen("a_channel", () => undefined, connected);
      await expect.poll(() => connected.mock.calls.length).toBe(1);
      {
        using _ = postgres.pause();
        await expect.poll(() => listener.isListening, { timeout: 15_000 * inject("slowness") }).toBe(false);
      }
      await expect.poll(() => connected.mock.calls.length).toBe(2);
      listener.close();
    });

    test("tenants on one connection never use each other's tables, even with prepared statements", async () => {
      const url = `${await postgres.createDatabase()}&connections=1`;
      await using store = await openStore(url);
      const tenants = ["a", "b-1"].map((id) => tenantRow({ id }));
      for (const row of tenants) await store.tenants.create(row);
      const stores = [store, await store.tenant("a"), await store.tenant("b-1")];
      const id = newId("session");
      const leases = [];
      for (const [index, each] of stores.entries()) {
        // Log numbers differ per tenant, so that a plan for another tenant's tables would show.
        for (const _ of numbers(index)) await each.sessions.create(sessionRow(), []);
        await each.sessions.create(sessionRow({ id }), []);
        leases.push((await each.leases.take(id, "me", 600_000))!);
      }
      for (const round of numbers(40)) {
        for (const [index, each] of stores.entries()) {
          const lease = leases[index]!;
          const [event] = await append(each, lease, `of ${index}`);
          expect(event!.seq).toBe(round);
          expect(await each.events.head(id)).toBe(round);
          expect(await each.leases.renew([lease], 600_000)).toEqual([]);
        }
        // From here on one tenant is ahead of the others.
        if (round === 20) await each20(stores, leases);
      }
      for (const [index, each] of stores.entries()) {
        const events = await each.events.read(id, { limit: 100 });
        expect(events.map(({ event }) => textOf(event))).toEqual(Array(40).fill(`of ${index}`));
      }
      const backends = await query(
        url,
        "select count(distinct pid) from pg_stat_activity where application_name = 'tandem'",
      );
      expect(backends).toEqual([{ count: "1" }]);
    });

    test("tenants keep to their own tables while connections die", async () => {
      const url = `${await postgres.createDatabase()}&connections=3`;
      await using store = await openStore(url);
      const ids = ["one", "two", "three"];
      for (const id of ids) await store.tenants.create(tenantRow({ id }));
      const session = newId("session");
      const over = new AbortController();
      const failures: unknown[] = [];
      const stages: { id: string; own: Store; lease: Lease }[] = [];
      for (const id of ids) {
        const own = await store.tenant(id);
        await own.sessions.create(sessionRow({ id: session, title: id }), []);
        stages.push({ id, own, lease: (await own.leases.take(session, id, 600_000))! });
      }
      const work = async ({ id, own, lease }: (typeof stages)[number]): Promise<void> => {
        let reads = 0;
        // At least once, even if it gets no connection that lives long enough until then.
        while (!over.signal.aborted || reads === 0) {
          try {
            await own.events.append(lease, [{ thread: null, event: message(id) }], { session: { title: id } });
            expect((await own.sessions.get(session))!.title).toBe(id);
            expect((await own.leases.holder(session))!.holder).toBe(id);
            reads += 1;
          } catch (error) {
            failures.push(error);
          }
        }
      };
      const working = Promise.all(stages.flatMap((each) => [work(each), work(each), work(each), work(each)]));
      for (const _ of numbers(8)) {
        await delay(200);
        await query(
          url,
          `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'tandem' and datname = current_database()`,
        );
      }
      over.abort();
      await working;
      for (const failure of failures) expect(failure).toMatchObject({ code: "unavailable" });
      expect(failures.length).toBeGreaterThan(0);
      for (const { id, own } of stages) {
        const read = await until(() => own.events.read(session, { limit: 100_000 }).catch(() => undefined));
        expect(new Set(read.map(({ event }) => textOf(event)))).toEqual(new Set([id]));
      }
    });

    test("followers, listeners and writers of all tenants survive a restart", async () => {
      const url = await postgres.createDatabase();
      await using store = await openStore(url);
      await using other = await openStore(url);
      await store.tenants.create(tenantRow({ id: "acme" }));
      const pairs = [
        [store, other],
        [await store.tenant("acme"), await other.tenant("acme")],
      ] as const;
      const stages = await Promise.all(
        pairs.map(async ([here, there]) => {
          const row = sessionRow();
          await here.sessions.create(row, []);
          const lease = (await here.leases.take(row.id, "me", 600_000))!;
          await append(here, lease, "before");
          const puts: string[] = [];
          there.inputQueue.onPut((session) => puts.push(session));
          let seen = 0;
          const followed = collect(there, row.id, 0, 2, () => void (seen += 1));
          await until(() => seen || undefined);
          return { here, lease, followed, puts };
        }),
      );
      await postgres.kill();
      for (const { here, lease } of stages) {
        await expect(append(here, lease, "lost")).rejects.toMatchObject({ code: "unavailable" });
        await expect(here.leases.waitingForWorker()).rejects.toMatchObject({ code: "unavailable" });
      }
      await expect(store.workers.list()).rejects.toMatchObject({ code: "unavailable" });
      await expect(store.tenants.list()).rejects.toMatchObject({ code: "unavailable" });
      await postgres.start();
      for (const { here, lease, followed, puts } of stages) {
        await until(() => append(here, lease, "after").catch(() => undefined));
        await here.inputQueue.put(lease.session, [{ ...message("sent"), processed_at: null }]);
        expect((await followed).map(({ event }) => textOf(event))).toEqual(["before", "after"]);
        await until(() => puts[0]);
        expect(new Set(puts)).toEqual(new Set([lease.session]));
      }
      expect((await other.tenants.list()).map(({ id }) => id)).toEqual(["acme", "default"]);
    });

    test("tenants with an older schema are migrated when a store is opened, even concurrently", async () => {
      const url = await postgres.createDatabase();
      const row = sessionRow();
      {
        await using store = await openStore(url);
        for (const id of ["old-1", "old-2"]) await store.tenants.create(tenantRow({ id }));
        await (await store.tenant("old-1")).sessions.create(row, []);
      }
      // Recreates earlier states: one tenant lacks the newest migrations, another has no tables.
      await query(
        url,
        `set search_path to "tandem_t_old-1";
      delete from schema_version where version > 5;
      alter table schema_version drop column compatible;
      alter table session drop column place, drop column waiting, drop column deployment_id;
      alter table thread drop column workflow_run_id;
      drop index log_held;
      create table token (id text);
      drop schema "tandem_t_old-2" cascade;
      update tandem.tenant set schema = 5 where id = 'old-1';
      update tandem.tenant set schema = 0 where id = 'old-2'`,
      );
      const stores = await Promise.all(numbers(3).map(() => openStore(url)));
      for (const store of stores) {
        expect(await (await store.tenant("old-1")).sessions.get(row.id)).toEqual(row);
        expect(await (await store.tenant("old-2")).sessions.get(row.id)).toBeUndefined();
        expect((await (await store.tenant("old-2")).describe()).schema).toBe(SCHEMA_VERSION);
        await store[Symbol.asyncDispose]();
      }
      expect(await query(url, `select distinct schema from tenant where id like 'old-%'`)).toEqual([
        { schema: String(SCHEMA_VERSION) },
      ]);
    });

    test("events and transcripts can be partitioned by log, as the guide describes", async () => {
      const url = await postgres.createDatabase();
      await using store = await openStore(url);
      const sessions = [sessionRow(), sessionRow()];
      const write = async (index: number, token: number): Promise<void> => {
        const lease = { session: sessions[index]!.id, token };
        await append(store, lease, "one");
        await store.events.append(lease, [{ thread: null, event: message("two") }], { session: { title: "two" } });
        await store.transcripts.append(lease, "main", [{ uuid: newId("event") }]);
      };
      await store.sessions.create(sessions[0]!, []);
      await store.leases.take(sessions[0]!.id, "me", 600_000);
      await write(0, 1);
      const guide = readFileSync(new URL("../../../../docs/guides/database.md", import.meta.url), "utf8");
      const [, statements] = /```sql\n([^]*?partition by range[^]*?)```/.exec(guide)!;
      await query(url, statements!);
      await store.sessions.create(sessions[1]!, []);
      await store.leases.take(sessions[1]!.id, "me", 600_000);
      for (const index of [0, 1]) await write(index, 1);
      const texts = async (index: number) =>
        (await store.events.read(sessions[index]!.id, { limit: 9 })).map(({ event }) => textOf(event));
      expect(await texts(0)).toEqual(["one", "two", "one", "two"]);
      expect(await texts(1)).toEqual(["one", "two"]);
      const [again] = await store.events.read(sessions[1]!.id, { limit: 1 });
      await expect(
        store.events.append({ session: sessions[1]!.id, token: 1 }, [{ thread: null, event: again!.event }]),
      ).resolves.toEqual([again]);
      const where = (table: string) =>
        query(url, `select distinct tableoid::regclass::text as part from ${table} order by 1`);
      expect(await where("event")).toEqual([{ part: "event_0" }, { part: "event_1" }]);
      expect(await where("transcript")).toEqual([{ part: "transcript_0" }, { part: "transcript_1" }]);
      await store.sessions.delete({ session: sessions[0]!.id, token: 1 });
      await query(url, "drop table event_0; drop table transcript_0");
      expect(await texts(1)).toEqual(["one", "two"]);
      expect(await store.transcripts.load(sessions[1]!.id, "main")).toHaveLength(1);
    });

    test("sweeps and fleet views use an index with any number of sessions", async () => {
      const url = await postgres.createDatabase();
      await using store = await openStore(url);
      await query(
        url,
        `insert into session (id, status, agent_id, agent_version, environment_id, micros, created_at, updated_at, state)
        select 'sesn_' || lpad(n::text, 8, '0'), 'idle', 'agent_1', 1, 'env_1', 0, n, n, '{"waitingFor":[]}'
        from generate_series(1, 30000) as n;
      insert into agent_snapshot select id, '', '{}' from session;
      insert into log (session, seq, inbox_seq, lease_token) select id, 5, 0, 1 from session`,
      );
      for (const number of numbers(5)) {
        const row = sessionRow({
          status: "running",
          waitingFor: [{ event_id: "e", type: "tool_confirmation", name: "Bash" }],
        });
        await store.sessions.create(row, [{ ...message("sent"), processed_at: null }]);
        if (number < 3) await store.leases.take(row.id, "me", 60_000);
      }
      await using server = new PostgresServer(url);
      const page = { limit: 20, order: "desc", cursor: undefined } as const;
      const statistics: number[][] = [];
      for (const _ of ["without", "with"]) {
        statistics.push([
          await rowsTouched(server, findAbandoned, undefined),
          await rowsTouched(server, findUnclaimed, undefined),
          await rowsTouched(server, listHeld, undefined),
          await rowsTouched(server, listSessions, { page, filter: { statuses: ["running"] } }),
          await rowsTouched(server, listSessions, { page, filter: { waiting: true } }),
        ]);
        await query(url, "analyze");
      }
      for (const touched of statistics) expect(Math.max(...touched), touched.join(" ")).toBeLessThan(200);
    });
  },
);

/** Advances one tenant alone, so that a mix-up of tables would show. */
async function each20(stores: readonly Store[], leases: readonly Lease[]): Promise<void> {
  const session: SessionId = leases[0]!.session;
  const change = { session: { title: "twenty" } };
  await stores[1]!.events.append(leases[1]!, [], change);
  expect(await Promise.all(stores.map(async (each) => (await each.sessions.get(session))!.title))).toEqual([
    "A session",
    "twenty",
    "A session",
  ]);
}

/** Number of rows that Postgres read for the operation. */
async function rowsTouched<A, T>(server: PostgresServer, operation: Operation<A, T>, args: A): Promise<number> {
  let touched = 0;
  const explain = async ({ parts, values }: Sql): Promise<unknown[]> =>
    server.use("tandem", async (execute) => {
      const explained = await execute({
        parts: [`explain (analyze, format json) ${parts[0]}`, ...parts.slice(1)],
        values,
      });
      touched += count((explained[0] as { "QUERY PLAN": { Plan: Node }[] })["QUERY PLAN"][0]!.Plan);
      return execute({ parts, values });
    });
  await performAsync(operation.work(args), explain);
  return touched;
}

interface Node {
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Node[];
}

const count = (node: Node): number =>
  (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"] +
  (node.Plans ?? []).reduce((sum, child) => sum + count(child), 0);
