import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { newId } from "@tandem/protocol";
import { afterAll, expect, test } from "vitest";
import { message, sessionRow } from "../contract/samples.ts";
import { numbers } from "../contract/storage-stage.ts";
import { openStore } from "../open-store.ts";
import { deleteSomeRecords } from "../operations/records.ts";
import { SqliteDatabase } from "./sqlite-database.ts";

const scratch = mkdtempSync(join(tmpdir(), "tandem-sqlite-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test("another process's transaction holds up a write, but not this process", async () => {
  const file = join(scratch, "held.db");
  await using store = await openStore(file);
  using other = new DatabaseSync(file);
  other.exec("begin immediate");
  let isWritten = false;
  const writing = store.sessions.create(sessionRow(), []).then(() => (isWritten = true));
  // If the write blocked the event loop, it would fail before the lock is released here.
  await delay(300);
  expect(isWritten).toBe(false);
  other.exec("commit");
  await writing;
  expect((await store.sessions.list({ limit: 10 })).data).toHaveLength(1);
});

test("a loop of calls leaves time for timers", async () => {
  await using store = await openStore(join(scratch, "loop.db"));
  const calls = [() => store.sessions.get("sesn_none"), () => store.environments.delete(newId("environment"))];
  for (const call of calls) {
    const signal = AbortSignal.timeout(50);
    // It would never end if no call let the timer run.
    let made = 0;
    for (; !signal.aborted; made += 1) await call();
    expect(made).toBeGreaterThan(0);
  }
});

test("writes keep their order and reads see them while a thread takes over", async () => {
  await using store = await openStore(join(scratch, "moved.db"));
  const row = sessionRow();
  await store.sessions.create(row, []);
  const lease = (await store.leases.take(row.id, "test", 600_000))!;
  // Enough work for a thread.
  for (const count of numbers(500)) {
    // Some at once, so that reads and writes are under way at the moment of the change.
    const appended = [1, 2, 3].map((part) =>
      store.events.append(lease, [{ thread: null, event: message(`${count}.${part} ${"x".repeat(5_000)}`) }]),
    );
    const seqs = (await Promise.all(appended)).flatMap((events) => events.map(({ seq }) => seq));
    expect(seqs).toEqual([count * 3 - 2, count * 3 - 1, count * 3]);
    const latest = await store.events.read(row.id, { after: count * 3 - 3, limit: 10 });
    expect(latest.map(({ seq }) => seq)).toEqual(seqs);
  }
});

test("commits of other processes are noticed before and after a thread takes over", async () => {
  const file = join(scratch, "watched.db");
  await using database = await SqliteDatabase.open(file);
  let notices = 0;
  database.watch(() => (notices += 1));
  using other = new DatabaseSync(file, { timeout: 60_000 });
  const expectNotice = async (change: string): Promise<void> => {
    const before = notices;
    other.exec(change);
    await expect.poll(() => notices).toBeGreaterThan(before);
  };
  await expectNotice("create table one (id)");
  // The thread also returns the freed pages to the disk.
  await database.write(deleteSomeRecords, "none");
  await expectNotice("create table two (id)");
  for (const number of numbers(5)) await expectNotice(`create table more_${number} (id)`);
});
