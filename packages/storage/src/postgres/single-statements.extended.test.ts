import { newId } from "@tandem/protocol";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { message, sent, sessionRow } from "../contract/samples.ts";
import { until } from "../contract/storage-stage.ts";
import { openStore } from "../open-store.ts";
import type { Lease } from "../lease.ts";
import type { Store } from "../store.ts";
import { startPostgres, whyNoPostgres, type TestPostgres } from "../testing/postgres.ts";

const missing = whyNoPostgres();

/** Writes that are one statement see one snapshot: these tests commit something while the statement waits for a row. */
describe.skipIf(missing)(`writes in one statement${missing ? ` (skipped: ${missing})` : ""}`, () => {
  let postgres: TestPostgres;
  let store: Store;
  let other: Client;
  beforeAll(async () => {
    postgres = await startPostgres();
    const url = await postgres.createDatabase();
    store = await openStore(url);
    other = new Client({ connectionString: url, options: "-c search_path=tandem" });
    await other.connect();
  });
  afterAll(async () => {
    await other.end();
    await store[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  });

  const newSession = async (): Promise<{ lease: Lease; log: number }> => {
    const row = sessionRow();
    await store.sessions.create(row, []);
    const lease = (await store.leases.take(row.id, "test", 60_000))!;
    const { rows } = await other.query<{ number: string }>("select number from log where session = $1", [row.id]);
    return { lease, log: Number(rows[0]!.number) };
  };

  /** Runs `write` while another transaction holds the log's row; that commits once the write waits for it. */
  async function during<T>(session: string, statements: () => Promise<unknown>, write: () => Promise<T>): Promise<T> {
    await other.query("begin");
    await other.query("update log set seq = seq where session = $1", [session]);
    await statements();
    const writing = write();
    writing.catch(() => undefined);
    await until(async () => {
      const { rows } = await other.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
      return rows.length > 0;
    });
    await other.query("commit");
    return writing;
  }

  test("an event that is logged while its retry waits is not put into the input queue again", async () => {
    const { lease, log } = await newSession();
    const event = sent("once");
    const put = during(
      lease.session,
      async () => {
        await other.query("update log set seq = seq + 1 where session = $1", [lease.session]);
        await other.query(
          "insert into event (log, seq, id, type, shown, body) values ($1, 1, $2, 'user.message', 1, '{}')",
          [log, event.id],
        );
      },
      () => store.inputQueue.put(lease.session, [event]),
    );
    await expect(put).rejects.toMatchObject({ code: "conflict" });
    expect(await store.inputQueue.list(lease.session)).toEqual([]);
    await store.inputQueue.put(lease.session, [sent("another")]);
    expect(await store.inputQueue.list(lease.session)).toHaveLength(1);
  });

  test("transcript lines keep their place behind lines that were committed meanwhile", async () => {
    const { lease, log } = await newSession();
    const line = (text: string) => ({ type: "user", uuid: newId("event"), text });
    const [first, second, third] = [line("first"), line("second"), line("third")];
    await during(
      lease.session,
      () =>
        other.query("insert into transcript (log, subpath, position, uuid, body) values ($1, '', 1, $2, $3)", [
          log,
          first.uuid,
          JSON.stringify(first),
        ]),
      () => store.transcripts.append(lease, "", [second, third]),
    );
    expect(await store.transcripts.load(lease.session, "")).toEqual([first, second, third]);
    await store.transcripts.append(lease, "", [second, line("fourth")]);
    expect(await store.transcripts.load(lease.session, "")).toHaveLength(4);
  });

  test("nothing of an append is written if the lease is lost while it waits", async () => {
    const { lease } = await newSession();
    const input = sent("stays");
    await store.inputQueue.put(lease.session, [input]);
    const before = await store.sessions.get(lease.session);
    const event = { ...input, processed_at: new Date().toISOString() };
    const append = during(
      lease.session,
      () => other.query("update log set lease_token = lease_token + 1 where session = $1", [lease.session]),
      () =>
        store.events.append(lease, [{ thread: null, event }], {
          taken: [input.id],
          session: { status: "running", title: "lost" },
          row: { ...before!, status: "running", title: "lost" },
        }),
    );
    await expect(append).rejects.toMatchObject({ code: "lease_lost" });
    expect(await store.events.read(lease.session, { limit: 5 })).toEqual([]);
    expect(await store.inputQueue.list(lease.session)).toEqual([input]);
    expect(await store.sessions.get(lease.session)).toEqual(before);
  });

  test("an append with the known row stores what one without it stores", async () => {
    const stored = async (isKnown: boolean) => {
      const { lease } = await newSession();
      const row = (await store.sessions.get(lease.session))!;
      const change = { status: "running" as const, title: "New", metadata: { a: "b" }, activeMs: 12 };
      await store.events.append(lease, [{ thread: null, event: message("x") }], {
        session: change,
        ...(isKnown && { row: { ...row, ...change } }),
      });
      const { rows } = await other.query("select status, waiting, micros, state from session where id = $1", [row.id]);
      const { state, ...columns } = rows[0] as { state: string };
      const { primaryThread: _, ...rest } = JSON.parse(state) as Record<string, unknown>;
      return { ...columns, ...rest };
    };
    expect(await stored(true)).toEqual(await stored(false));
  });

  test("of concurrent puts of one record with the same version, one is written", async () => {
    const put = (value: number, version: number) =>
      store.records.write("s", [{ type: "put", kind: "k", key: "a", value, version }]).then(
        () => true,
        () => false,
      );
    for (let version = 0; version < 5; version += 1) {
      const outcomes = await Promise.all(Array.from({ length: 8 }, (_, index) => put(index, version)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    }
    await expect(
      store.records.write("s", [{ type: "put", kind: "k", key: "a", value: 1, version: 2 }]),
    ).rejects.toThrow(/was to be version 2, and is version 5/);
  });
});
