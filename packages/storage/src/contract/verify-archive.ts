import { newId } from "@tandem/protocol";
import { expect } from "vitest";
import { exportSession } from "../archive/export-session.ts";
import { importSession, type ImportOptions } from "../archive/import-session.ts";
import { openStore } from "../open-store.ts";
import type { SessionRow, Store } from "../store.ts";
import { message, sent, threadRow } from "./samples.ts";
import { numbers, type Stage, type Behaviours } from "./storage-stage.ts";

async function rich(stage: Stage): Promise<SessionRow> {
  const { row, ...lease } = await stage.session({ claudeSession: "c0ffee" }, [sent("waits")]);
  const thread = threadRow(row);
  const entries = numbers(600).map((number) => ({
    thread: number % 3 ? null : thread.id,
    event: message(`${number} \u0000`),
  }));
  await stage.store.events.append(lease, entries, { threads: [thread] });
  await stage.store.transcripts.append(
    lease,
    "main",
    numbers(5).map((number) => ({ uuid: `u${number}`, number })),
  );
  await stage.store.transcripts.append(lease, "subagents/a", [{ no: "uuid" }]);
  return (await stage.store.sessions.get(row.id))!;
}

async function lines(store: Store, row: SessionRow): Promise<string[]> {
  const all: string[] = [];
  for await (const line of exportSession(store, row.id)) all.push(line);
  return all;
}

/** Imports the session unchanged. */
const as = (row: SessionRow): ImportOptions => ({ folder: row.folder, withWaiting: true });

/** Everything that can be read of a session. */
async function everything(store: Store, { id }: SessionRow): Promise<unknown> {
  return {
    session: await store.sessions.get(id),
    threads: await store.sessions.threads(id),
    events: await store.events.read(id, { limit: 10_000 }),
    head: await store.events.head(id),
    input: await store.inputQueue.list(id),
    main: await store.transcripts.load(id, "main"),
    sub: await store.transcripts.load(id, "subagents/a"),
  };
}

export const verifyArchive: Behaviours = {
  "An exported session is imported into another store unchanged": async (stage) => {
    const row = await rich(stage);
    await using elsewhere = await openStore(await stage.fixture.location());
    expect((await importSession(elsewhere, await lines(stage.store, row), as(row))).id).toBe(row.id);
    expect(await everything(elsewhere, row)).toEqual(await everything(stage.store, row));
    expect(await lines(elsewhere, row)).toEqual(await lines(stage.store, row));
    const lease = (await elsewhere.leases.take(row.id, "me", 60_000))!;
    const [next] = await elsewhere.events.append(lease, [{ thread: null, event: message("goes on") }]);
    expect(next!.seq).toBe(601);
  },

  "Importing an existing id is a conflict, unless a new id is given": async (stage) => {
    const row = await rich(stage);
    const exported = await lines(stage.store, row);
    const before = await everything(stage.store, row);
    await expect(importSession(stage.store, exported, as(row))).rejects.toMatchObject({ code: "conflict" });
    const { id } = await importSession(stage.store, exported, { ...as(row), id: newId("session") });
    expect(id).not.toBe(row.id);
    const copy = await stage.store.sessions.get(id);
    expect(copy).toEqual({ ...row, id });
    expect(await stage.store.events.read(id, { limit: 10_000 })).toEqual(
      await stage.store.events.read(row.id, { limit: 10_000 }),
    );
    expect((await stage.store.sessions.threads(id)).every(({ session }) => session === id)).toBe(true);
    expect(await everything(stage.store, row)).toEqual(before);
    await expect(lines(stage.store, { ...row, id: newId("session") })).rejects.toMatchObject({ code: "not_found" });
  },

  "A damaged or truncated export is rejected, and nothing is stored": async (stage) => {
    const row = await rich(stage);
    const good = await lines(stage.store, row);
    await using elsewhere = await openStore(await stage.fixture.location());
    const change = (index: number, from: string, to: string): string[] =>
      good.with(index, good[index]!.replace(from, to));
    const event = good.findIndex((line) => line.includes('"type":"event"'));
    const damaged: [string, string[]][] = [
      ["empty", []],
      ["something else", ['{"hello":"world"}']],
      ["not JSON", good.with(5, "{")],
      ["a newer format", change(0, '"version":1', '"version":2')],
      ["cut off", good.slice(0, -1)],
      ["a line lost", good.toSpliced(event, 1)],
      ["two lines changed places", good.toSpliced(event, 2, good[event + 1]!, good[event]!)],
      ["a status that there is not", change(1, '"status":"idle"', '"status":"happy"')],
      ["an event without an id", change(event, '"id":"sevt', '"no":"sevt')],
      ["an unknown kind of line", good.toSpliced(3, 0, '{"type":"surprise"}')],
      ["a second session", good.toSpliced(2, 0, good[1]!)],
    ];
    for (const [what, bad] of damaged) {
      const outcome = await importSession(elsewhere, bad, as(row)).then(
        () => "imported",
        (error: { code: string }) => error.code,
      );
      expect([what, outcome]).toEqual([what, "invalid_request"]);
    }
    expect(await elsewhere.sessions.get(row.id)).toBeUndefined();
    expect(await stage.fixture.dump((await elsewhere.describe()).place)).not.toContain(row.id);
    const running = change(1, '"status":"idle"', '"status":"running"');
    await expect(importSession(elsewhere, running, as(row))).rejects.toMatchObject({ code: "conflict" });
    // The importer sets the folder; waiting input is imported only on request.
    const { id, waiting } = await importSession(elsewhere, good, { folder: "/elsewhere", withWaiting: false });
    expect(await elsewhere.sessions.get(id)).toMatchObject({ folder: "/elsewhere" });
    expect(waiting).toBe((await stage.store.inputQueue.list(row.id)).length);
    expect(await elsewhere.inputQueue.list(id)).toEqual([]);
  },
};
