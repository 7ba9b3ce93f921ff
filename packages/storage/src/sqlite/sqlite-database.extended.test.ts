import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { execFileSync, spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newId } from "@tandem/protocol";
import { afterAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { message, sent, sessionRow } from "../contract/samples.ts";
import { numbers, until } from "../contract/storage-stage.ts";
import { openStore } from "../open-store.ts";
import type { Store } from "../store.ts";
import type { Lease } from "../lease.ts";
import { startWriter } from "../testing/writer.ts";

const scratch = mkdtempSync(join(tmpdir(), "tandem-sqlite-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

async function newSession(store: Store): Promise<Lease> {
  const row = sessionRow();
  await store.sessions.create(row, []);
  return (await store.leases.take(row.id, "test", 600_000))!;
}

describe("the SQLite file", () => {
  test("is readable by its owner only, like its side files and folder", async () => {
    const folder = join(scratch, "made", "deep");
    await using store = await openStore(join(folder, "tandem.db"));
    await newSession(store);
    const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]);
    expect(modes).toEqual([
      ["tandem.db", "600"],
      ["tandem.db-shm", "600"],
      ["tandem.db-wal", "600"],
    ]);
    expect((statSync(folder).mode & 0o777).toString(8)).toBe("700");
    expect((statSync(join(scratch, "made")).mode & 0o777).toString(8)).toBe("700");
  });

  test("has no side files after the store is closed, and no process keeps running", async () => {
    const folder = mkdtempSync(join(scratch, "closed-"));
    await (await openStore(`sqlite:${folder}/tandem.db`))[Symbol.asyncDispose]();
    expect(readdirSync(folder)).toEqual(["tandem.db"]);
  });

  test("shrinks after a session is deleted, and keeps no copy of its data", async () => {
    const file = join(scratch, "shrinks.db");
    const store = await openStore(file);
    const lease = await newSession(store);
    const secret = "s3cr3t".repeat(1_000);
    for (const _ of numbers(40)) {
      await store.events.append(
        lease,
        numbers(50).map(() => ({ thread: null, event: message(secret) })),
      );
    }
    expect((await store.describe()).bytes).toBeGreaterThan(10_000_000);
    await store.sessions.delete(lease);
    const database = new DatabaseSync(file, { readOnly: true });
    // Vacuuming runs in the background.
    await until(() => (database.prepare("pragma freelist_count").get()?.["freelist_count"] === 0 ? true : undefined));
    database.close();
    await store[Symbol.asyncDispose]();
    expect(statSync(file).size).toBeLessThan(1_000_000);
    expect(readFileSync(file).includes("s3cr3t")).toBe(false);
  });

  test("is not written to after it was removed or replaced, and works again when restored", async () => {
    const folder = mkdtempSync(join(scratch, "moved-"));
    const away = mkdtempSync(join(scratch, "away-"));
    const file = join(folder, "tandem.db");
    const move = (from: string, to: string): void => {
      for (const name of readdirSync(from)) renameSync(join(from, name), join(to, name));
    };
    await using store = await openStore(file);
    const lease = await newSession(store);
    const append = () => store.events.append(lease, [{ thread: null, event: message("x") }]);
    await append();
    expect(await store.events.head(lease.session)).toBe(1);
    const gone = { code: "unavailable", message: expect.stringContaining("removed or replaced") };
    move(folder, away);
    await expect(append()).rejects.toMatchObject(gone);
    await expect(store.events.head(lease.session)).rejects.toMatchObject(gone);
    await expect(store.check()).rejects.toMatchObject(gone);
    copyFileSync(join(away, "tandem.db"), file);
    await expect(append()).rejects.toMatchObject(gone);
    rmSync(file);
    move(away, folder);
    expect((await append()).map(({ seq }) => seq)).toEqual([2]);
    await using other = await openStore(file);
    expect(await other.events.head(lease.session)).toBe(2);
  });

  test("rejects within seconds while another process holds the lock, and stores nothing late", async () => {
    const file = join(scratch, "locked.db");
    await using store = await openStore(file);
    const lease = await newSession(store);
    using other = new DatabaseSync(file);
    other.exec("begin immediate");
    const append = () => store.events.append(lease, [{ thread: null, event: message("x") }]);
    const refused = append();
    expect(await store.events.head(lease.session)).toBe(0);
    await expect(refused).rejects.toMatchObject({ code: "unavailable" });
    other.exec("rollback");
    expect((await append()).map(({ seq }) => seq)).toEqual([1]);
  });

  test("rejects a file that is not a database or cannot be created, with a fix", async () => {
    const file = join(scratch, "poem.txt");
    writeFileSync(file, "Über allen Gipfeln ist Ruh, in allen Wipfeln spürest du kaum einen Hauch.\n".repeat(100));
    await expect(openStore(file)).rejects.toMatchObject({
      code: "not_a_database",
      fix: expect.stringContaining("another file"),
    });
    await expect(openStore(join(file, "tandem.db"))).rejects.toMatchObject({ code: "unavailable" });
    writeFileSync(join(scratch, "empty.db"), "");
    utimesSync(join(scratch, "empty.db"), 1, 1);
    await expect(openStore(join(scratch, "empty.db"))).rejects.toMatchObject({
      code: "not_a_database",
      message: expect.stringContaining("empty file"),
      fix: expect.stringContaining("delete the file"),
    });
    mkdirSync(join(scratch, "folder"));
    await expect(openStore(join(scratch, "folder"))).rejects.toMatchObject({ code: "unavailable" });
  });
});

const [MOUNT, UMOUNT] = ["mount", "umount"];
const mountSmallDisk = (folder: string): void =>
  void execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=8m", "none", folder], { stdio: "ignore" });
const canMount = (() => {
  const folder = mkdtempSync(join(scratch, "mount-"));
  try {
    mountSmallDisk(folder);
    execFileSync(UMOUNT, [folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

test.runIf(canMount)("a full disk is named, nothing is half stored, and writes work again with space", async () => {
  const disk = mkdtempSync(join(scratch, "disk-"));
  mountSmallDisk(disk);
  onTestFinished(() => void execFileSync(UMOUNT, ["-l", disk]));
  await using store = await openStore(join(disk, "tandem.db"));
  const lease = await newSession(store);
  const append = (text: string) => store.events.append(lease, [{ thread: null, event: message(text) }]);
  await append("before");
  await store.check();
  const filler = join(disk, "filler");
  expect(() => writeFileSync(filler, Buffer.alloc(16_000_000))).toThrow("ENOSPC");
  const full = { code: "unavailable", message: "The database cannot be used: the disk is full.", detail: "disk_full" };
  await expect(append("x".repeat(500_000))).rejects.toMatchObject(full);
  await expect(store.check()).rejects.toMatchObject(full);
  expect(await store.events.head(lease.session)).toBe(1);
  rmSync(filler);
  await store.check();
  expect((await append("after")).map(({ seq }) => seq)).toEqual([2]);
});

test("nothing is added to a log that cannot be read back; other sessions work", async () => {
  const file = join(scratch, "damaged-log.db");
  const healthy = await openStore(file);
  const [damaged, other] = [await newSession(healthy), await newSession(healthy)];
  for (const lease of [damaged, other]) {
    await healthy.events.append(lease, [{ thread: null, event: message("before") }]);
  }
  await healthy[Symbol.asyncDispose]();
  using database = new DatabaseSync(file);
  database
    .prepare("update event set body = ? where log = (select number from log where session = ?)")
    .run("\0\0\0", damaged.session);
  await using store = await openStore(file);
  const refused = { code: "conflict", detail: "log_unreadable", fix: expect.stringContaining("copy") };
  await expect(store.inputQueue.put(damaged.session, [sent("hello")])).rejects.toMatchObject(refused);
  await expect(store.events.append(damaged, [{ thread: null, event: message("after") }])).rejects.toMatchObject(
    refused,
  );
  expect(await store.inputQueue.list(damaged.session)).toEqual([]);
  await store.inputQueue.put(other.session, [sent("hello")]);
  await store.events.append(other, [{ thread: null, event: message("after") }]);
});

describe("a lease in a SQLite file", () => {
  const DAY = 86_400_000;
  const MINUTE = 60_000;

  test("of a killed process is free at once, whatever the clock says", async () => {
    const file = join(scratch, "dead-holder.db");
    await using store = await openStore(file);
    const { session } = await newSession(store);
    const row = sessionRow({ status: "running" });
    await store.sessions.create(row, []);
    // As left behind by a process whose clock was a day ahead.
    const ended = spawnSync(process.execPath, ["--version"]).pid;
    using database = new DatabaseSync(file);
    const take = (id: string) =>
      database
        .prepare("update log set lease_token = 7, lease_until = ?, lease_holder = ? where session = ?")
        .run(Date.now() + DAY, `killed\t${JSON.stringify({ ...processOf(database, session), pid: ended })}`, id);
    take(row.id);
    expect(await store.leases.holder(row.id)).toBeUndefined();
    expect(await store.leases.abandoned()).toEqual([row.id]);
    expect((await store.leases.take(row.id, "next", MINUTE))?.token).toBe(8);
  });

  test("a lease that no process renews is free after three times its duration, and one that is renewed is not", async () => {
    const file = join(scratch, "clock-set-back.db");
    await using store = await openStore(file);
    const [stale, renewed] = [await newSession(store), await newSession(store)];
    using database = new DatabaseSync(file);
    const holds = (session: string, until: number) =>
      database
        .prepare("update log set lease_until = ?, lease_holder = 'elsewhere' where session = ?")
        .run(until, session);
    holds(stale.session, Date.now() + DAY);
    let until_ = Date.now() + DAY;
    const lease = await until(async () => {
      holds(renewed.session, (until_ += 1));
      expect(await store.leases.take(renewed.session, "next", 100)).toBeUndefined();
      return store.leases.take(stale.session, "next", 100);
    });
    expect(lease.token).toBeGreaterThan(stale.token);
  });
});

const processOf = (database: DatabaseSync, session: string): object => {
  const row = database.prepare("select lease_holder from log where session = ?").get(session);
  return JSON.parse(String(row?.["lease_holder"]).split("\t")[1]!) as object;
};

const KILLS = inject("soak") ? 10 : 3;
test(`kill -9 of a writer loses no acknowledged event, ${KILLS} times`, async () => {
  const file = join(scratch, "crash.db");
  await using store = await openStore(file);
  const { session } = await newSession(store);
  let last = 0;
  for (const round of numbers(KILLS)) {
    await using writer = startWriter(file, { session, token: 1 });
    const first = await writer.acknowledged();
    expect(first).toBeGreaterThan(last);
    const acknowledged = await writer.kill();
    const head = await store.events.head(session);
    expect({ round, lost: acknowledged > head }).toEqual({ round, lost: false });
    last = head;
  }
  const events = await store.events.read(session, { limit: 1_000_000 });
  expect(events.map(({ seq }) => seq)).toEqual(numbers(last));
  using database = new DatabaseSync(file, { readOnly: true });
  expect(database.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
});

test("concurrent processes wait for each other, and none is rejected", async () => {
  const file = join(scratch, "busy.db");
  await using store = await openStore(file);
  const leases = [await newSession(store), await newSession(store), await newSession(store)];
  const own = await newSession(store);
  const writers = leases.map((lease) => startWriter(file, lease));
  await Promise.all(writers.map((writer) => writer.acknowledged()));
  // A rejected writer exits, and then `acknowledged` rejects.
  for (const number of numbers(200)) {
    const [event] = await store.events.append(own, [{ thread: null, event: message(`${number}`) }]);
    expect(event!.seq).toBe(number);
    // Reads before it writes: without an immediate lock, this fails with SQLITE_BUSY.
    await store.environments.delete(newId("environment"));
  }
  const reached = await Promise.all(writers.map((writer) => writer.acknowledged()));
  for (const writer of writers) await writer.kill();
  expect(Math.min(...reached)).toBeGreaterThan(0);
  for (const { session } of leases) {
    const events = await store.events.read(session, { limit: 1_000_000 });
    expect(events.map(({ seq }) => seq)).toEqual(numbers(events.length));
  }
});
