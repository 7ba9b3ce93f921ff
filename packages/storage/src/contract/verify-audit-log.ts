import { newId, type AuditNote } from "@tandem/protocol";
import { expect } from "vitest";
import { verifyAudit as goThrough } from "../audit/verify-audit.ts";
import { openStore } from "../open-store.ts";
import type { Store } from "../store.ts";
import { message, sessionRow } from "./samples.ts";
import { defaultTenantOnly, numbers, type Behaviours } from "./storage-stage.ts";

const note = (text: string, more: Partial<AuditNote> = {}): AuditNote => ({
  actor: "ann",
  kind: "rule.added",
  details: { text },
  ...more,
});

const chainOf = (store: Store) => store.audit.read(0, 100_000);

export const verifyAudit: Behaviours = {
  "Concurrent writers append to one gapless chain": async (stage) => {
    const writers = [stage.store, stage.other];
    await Promise.all(
      numbers(40).map((number) => writers[number % 2]!.audit.append([note(`a${number}`), note(`b${number}`)])),
    );
    const entries = await chainOf(stage.store);
    expect(entries.map(({ seq }) => seq)).toEqual(numbers(entries.length));
    const head = await stage.other.audit.head();
    expect(head).toEqual({ seq: entries.length, hash: entries.at(-1)!.hash });
    expect(await goThrough(entries, [head])).toMatchObject({ ok: true, entries: entries.length });
  },

  "An entry round-trips with any text": defaultTenantOnly(async (stage) => {
    const odd = { z: 1, a: { y: "\u0000 \ud83d\ude00 'é", b: [null, 1.5, { d: 1, c: 2 }] } };
    const at = "2026-05-01T10:00:00.123Z";
    const [entry] = (await stage.store.audit.append([
      { actor: "bob", kind: "call.finished", session: "sesn_odd", details: odd, at },
    ]))!;
    expect(entry).toMatchObject({ actor: "bob", kind: "call.finished", session: "sesn_odd", details: odd, at });
    const [read] = (await stage.other.audit.list({ limit: 1, session: "sesn_odd" })).data;
    expect(read).toEqual(entry);
    expect(await goThrough(await chainOf(stage.other))).toMatchObject({ ok: true });
  }),

  "One of several processes that read the same part of a log writes its entries": async (stage) => {
    const { session, ...lease } = await stage.session();
    await stage.appendEach({ session, token: lease.token }, ["a", "b", "c"]);
    expect(await stage.store.audit.behind(1_000)).toContain(session);
    const read = { session, after: 0, to: 3 };
    const told = numbers(6).map((number) =>
      (number % 2 ? stage.store : stage.other).audit.append([note(`read ${number}`, { session })], read),
    );
    const written = (await Promise.all(told)).filter((entries) => entries !== undefined);
    expect(written).toHaveLength(1);
    expect((await stage.store.audit.list({ limit: 10, session })).data).toHaveLength(1);
    expect(await stage.other.audit.cursor(session)).toMatchObject({ after: 3 });
    expect(await stage.store.audit.behind(1_000)).not.toContain(session);
    // The cursor moves even without new entries.
    await stage.appendEach({ session, token: lease.token }, ["d"]);
    expect(await stage.store.audit.append([], { session, after: 3, to: 4 })).toEqual([]);
    expect(await stage.store.audit.cursor(session)).toMatchObject({ after: 4 });
    expect(await stage.other.audit.append([], { session, after: 3, to: 9 }), "the cursor has moved").toBeUndefined();
    expect(await stage.store.audit.cursor(session)).toMatchObject({ after: 4 });
    // A job's log is not a session's.
    const { row, ...job } = await stage.job();
    await stage.store.jobs.write(job, [{ type: "progress" }]);
    expect(await stage.store.audit.behind(1_000)).not.toContain(row.id);
  },

  "Entries outlive a deleted session": async (stage) => {
    const { session, row: _, ...lease } = await stage.session();
    const held = { session, token: lease.token };
    await stage.store.events.append(held, [{ thread: null, event: message("said") }]);
    await stage.store.audit.append([note("of a session", { session })], { session, after: 0, to: 1 });
    await stage.store.sessions.delete(held);
    expect((await stage.store.audit.list({ limit: 5, session })).data).toHaveLength(1);
    expect(await stage.store.audit.behind(1_000)).not.toContain(session);
    // A restored session's past events are not audited again.
    const row = sessionRow({ id: session });
    const events = [{ seq: 1, thread: null, event: message("said") }];
    await stage.store.sessions.restore({ session: row, threads: [], events, input: [], transcripts: [] });
    expect(await stage.store.audit.cursor(session)).toMatchObject({ after: 1 });
    expect(await stage.store.audit.behind(1_000)).not.toContain(session);
  },

  "Entries are listed by session, actor, kind and time, and by page": async (stage) => {
    const session = newId("session");
    const day = (number: number) => `2025-01-0${number}T00:00:00.000Z`;
    await stage.store.audit.append(
      numbers(5).map((number) =>
        note(`${number}`, {
          session,
          actor: number % 2 ? "odd" : "even",
          kind: number === 5 ? "rule.removed" : "rule.added",
          at: day(number),
        }),
      ),
    );
    const texts = async (query: object) =>
      (await stage.store.audit.list({ limit: 10, session, ...query })).data.map(({ details }) => details["text"]);
    expect(await texts({})).toEqual(["5", "4", "3", "2", "1"]);
    expect(await texts({ order: "asc", actor: "odd" })).toEqual(["1", "3", "5"]);
    expect(await texts({ kinds: ["rule.removed"] })).toEqual(["5"]);
    expect(await texts({ created: { gte: day(2), lt: day(4) } })).toEqual(["3", "2"]);
    const first = await stage.store.audit.list({ limit: 2, session });
    const second = await stage.store.audit.list({ limit: 2, session, cursor: first.next! });
    expect([...first.data, ...second.data].map(({ details }) => details["text"])).toEqual(["5", "4", "3", "2"]);
    expect(second.previous).not.toBeNull();
  },

  "A changed, removed or truncated entry is detected, and the first one is named": defaultTenantOnly(async (stage) => {
    const location = await stage.fixture.location();
    await using store = await openStore(location);
    await store.audit.append(numbers(6).map((number) => note(`${number}`)));
    const head = await store.audit.head();
    await stage.fixture.execute(location, "create table untouched as select * from audit");
    const attempts: [sql: string, problem: string, seq: number][] = [
      [`update audit set actor = 'mallory' where seq = 4`, "changed", 4],
      [`update audit set details = '{"text":"other"}' where seq = 2`, "changed", 2],
      [`update audit set at = at + 1 where seq = 6`, "changed", 6],
      [`delete from audit where seq = 3`, "missing", 3],
      [`delete from audit where seq > 4`, "truncated", 5],
      [`delete from audit`, "truncated", 1],
    ];
    for (const [statement, problem, seq] of attempts) {
      expect(await goThrough(await chainOf(store), [head])).toMatchObject({ ok: true });
      await stage.fixture.execute(location, statement);
      expect((await goThrough(await chainOf(store), [head])).broken, statement).toMatchObject({ problem, seq });
      await stage.fixture.execute(location, "delete from audit");
      await stage.fixture.execute(location, "insert into audit select * from untouched");
    }
  }),
};
