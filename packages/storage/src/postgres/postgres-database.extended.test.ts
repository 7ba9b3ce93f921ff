import { newId } from "@tandem/protocol";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { message, sessionRow } from "../contract/samples.ts";
import { collect, numbers, until } from "../contract/storage-stage.ts";
import { openStore } from "../open-store.ts";
import type { Store } from "../store.ts";
import type { Lease } from "../lease.ts";
import { startPostgres, whyNoPostgres, type TestPostgres } from "../testing/postgres.ts";
import { startWriter } from "../testing/writer.ts";

const missing = whyNoPostgres();

async function newSession(store: Store): Promise<Lease> {
  const row = sessionRow();
  await store.sessions.create(row, []);
  return (await store.leases.take(row.id, "test", 600_000))!;
}

/** Polls until the database is back. */
const head = (store: Store, { session }: Lease): Promise<number> =>
  until(() => store.events.head(session).catch(() => undefined));

describe.skipIf(missing)(`a Postgres outage${missing ? ` (skipped: ${missing})` : ""}`, () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres[Symbol.asyncDispose]());

  test("loses no acknowledged event when the server is killed, and recovers by itself", async () => {
    await using store = await openStore(await postgres.createDatabase());
    const lease = await newSession(store);
    for (const round of numbers(3)) {
      const acknowledged: number[] = [];
      const failures: unknown[] = [];
      const append = async (): Promise<void> => {
        while (failures.length < 3) {
          await store.events.append(lease, [{ thread: null, event: message("x") }]).then(
            ([event]) => acknowledged.push(event!.seq),
            (error: unknown) => failures.push(error),
          );
        }
      };
      const appending = Promise.all([append(), append(), append()]);
      await until(() => acknowledged[100]);
      await postgres.kill();
      await appending;
      for (const failure of failures) expect(failure).toMatchObject({ name: "RequestError", code: "unavailable" });
      await expect(store.check()).rejects.toMatchObject({ code: "unavailable" });
      await postgres.start();
      const reached = await head(store, lease);
      expect({ round, lost: Math.max(...acknowledged) > reached }).toEqual({ round, lost: false });
      const events = await store.events.read(lease.session, { limit: 100_000 });
      expect(events.map(({ seq }) => seq)).toEqual(numbers(reached));
      const [next] = await store.events.append(lease, [{ thread: null, event: message("goes on") }]);
      expect(next!.seq).toBe(reached + 1);
    }
  });

  test("loses no events for followers and listeners", async () => {
    const url = await postgres.createDatabase();
    await using store = await openStore(url);
    await using other = await openStore(url);
    const lease = await newSession(store);
    const stop = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const batch of other.events.follow(lease.session, 0, stop.signal))
        seen.push(...batch.map(({ seq }) => seq));
    })();
    const puts: string[] = [];
    other.inputQueue.onPut((session) => puts.push(session));
    await store.events.append(lease, [{ thread: null, event: message("before") }]);
    await until(() => seen[0]);
    await postgres.kill();
    await expect(other.events.head(lease.session)).rejects.toMatchObject({ code: "unavailable" });
    await postgres.start();
    await head(store, lease);
    await store.events.append(lease, [{ thread: null, event: message("after") }]);
    await store.inputQueue.put(lease.session, [{ ...message("sent"), processed_at: null }]);
    await until(() => seen[1]);
    await until(() => puts[0]);
    expect(seen).toEqual([1, 2]);
    expect(puts).toContain(lease.session);
    stop.abort();
    await following;
  });

  test("rejects opening with a reason while the server is down", async () => {
    const nowhere = openStore("postgres://tandem:secret@127.0.0.1:1/none");
    await expect(nowhere).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    const url = await postgres.createDatabase();
    const unknown = openStore(url.replace(/test_\d+/, "no_such_database"));
    await expect(unknown).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("no_such_database"),
    });
  });

  test("accepts writes from several processes at once", async () => {
    const url = await postgres.createDatabase();
    await using store = await openStore(url);
    const lease = await newSession(store);
    await using writer = startWriter(url, lease);
    await writer.acknowledged();
    const followed = collect(store, lease.session, 0, 200);
    const own = await newSession(store);
    for (const number of numbers(50)) {
      const [event] = await store.events.append(own, [{ thread: null, event: message(`${number}`) }]);
      expect(event!.seq).toBe(number);
    }
    expect((await followed).map(({ seq }) => seq).slice(0, 200)).toEqual(numbers(200));
    expect(await writer.kill()).toBeLessThanOrEqual(await store.events.head(lease.session));
  });

  test("tells an outage from an invalid request (an id with a NUL character)", async () => {
    await using store = await openStore(await postgres.createDatabase());
    await expect(store.sessions.get("sesn_\u0000")).rejects.toMatchObject({ code: "invalid_request" });
    await expect(store.check()).resolves.toBeUndefined();
  });

  test("does not show its password", async () => {
    const url = await postgres.createDatabase();
    for (const secret of [url.replace("postgres@", "postgres:s3cret@"), `${url}&password=s3cret`]) {
      await using store = await openStore(secret);
      const { place } = await store.describe();
      expect(place).not.toContain("s3cret");
      expect(place).toContain("postgres@localhost/test_");
    }
  });

  test("reads a page of a long log by its index, even without statistics", async () => {
    await using store = await openStore(await postgres.createDatabase());
    const [long, short] = [await newSession(store), await newSession(store)];
    const entries = numbers(1_000).map(() => ({ thread: null, event: message("x".repeat(200)) }));
    for (const _ of numbers(20)) {
      await store.events.append(
        long,
        entries.map(({ event }) => ({ thread: null, event: { ...event, id: newId("event") } })),
      );
    }
    await store.events.append(short, entries.slice(0, 50));
    /** The shortest of 20 times: the others include waiting for a busy processor. */
    const took = async ({ session }: Lease): Promise<number> => {
      const times: number[] = [];
      for (const _ of numbers(20)) {
        const begun = performance.now();
        await store.events.read(session, { limit: 20, order: "desc", thread: null });
        times.push(performance.now() - begun);
      }
      return Math.min(...times);
    };
    await took(short);
    // Reading and sorting the whole log would take about 20 times as long.
    expect(await took(long)).toBeLessThan(5 * (await took(short)) + 5 * inject("slowness"));
  });
});
