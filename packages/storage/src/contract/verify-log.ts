import { newId, type LoggedEvent, type SessionEvent } from "@tandem/protocol";
import { expect, inject } from "vitest";
import { LeaseLost } from "../lease-lost.ts";
import { message, sent, textOf, threadRow, usage } from "./samples.ts";
import { defaultTenantOnly, numbers, type Behaviours } from "./storage-stage.ts";

const at = (second: number): string => new Date(Date.UTC(2026, 0, 31, 12, 0, second)).toISOString();

export const verifyLog: Behaviours = {
  "Concurrent appends to several sessions get gapless numbers, in the order of the calls": async (stage) => {
    const leases = await Promise.all(numbers(4).map(() => stage.session()));
    const texts = numbers(50).map((number) => `text ${number}`);
    const all = await Promise.all(leases.map((lease) => stage.appendEach(lease, texts)));
    for (const [index, { session }] of leases.entries()) {
      const events = await stage.store.events.read(session, { limit: 100 });
      expect(events.map(({ seq }) => seq)).toEqual(numbers(50));
      expect(events.map(({ event }) => textOf(event))).toEqual(texts);
      expect(all[index]!.flat()).toEqual(events);
    }
  },

  "An event round-trips with any text; times keep milliseconds": defaultTenantOnly(async (stage) => {
    const lease = await stage.session();
    const thread = newId("thread");
    const strange = "NUL \u0000, half a pair \ud83d, emoji 🌲, quotes \"'`$1 ? :a";
    const events: SessionEvent[] = [
      message(strange),
      {
        type: "tandem.unknown",
        kind: "odd",
        message: { deep: [1, null, { [strange]: true }] },
        id: newId("event"),
        processed_at: at(1),
      },
      {
        type: "session.status_idle",
        stop_reason: { type: "end_turn" },
        stop_details: null,
        id: newId("event"),
        processed_at: "2026-01-31T12:00:00+01:00",
      },
    ];
    const returned = await stage.store.events.append(
      lease,
      events.map((event) => ({ thread, event })),
    );
    expect(returned.map(({ event }) => event)).toEqual([
      events[0],
      events[1],
      { ...events[2], processed_at: "2026-01-31T11:00:00.000Z" },
    ]);
    expect(returned.every((logged) => logged.thread === thread)).toBe(true);
    expect(await stage.store.events.read(lease.session, { limit: 10 })).toEqual(returned);
    const encoded = await stage.store.events.readEncoded(lease.session, { limit: 10 });
    expect(encoded.map(({ json }) => JSON.parse(json) as unknown)).toEqual(returned.map(({ event }) => event));
    expect(encoded).toMatchObject(returned.map(({ seq, event: { id, type } }) => ({ seq, thread, id, type })));
    expect(encoded[2]).toMatchObject({ at: Date.parse("2026-01-31T11:00:00Z"), isOnPrimary: false });
  }),

  "A range is read in both directions, filtered by type, thread and time": async (stage) => {
    const { events } = stage.store;
    const lease = await stage.session();
    const thread = newId("thread");
    const idle = (second: number): SessionEvent => ({
      type: "session.status_running",
      id: newId("event"),
      processed_at: at(second),
    });
    const asks: SessionEvent = {
      type: "agent.tool_use",
      name: "Bash",
      input: {},
      evaluated_permission: "ask",
      tandem: { tool_use_id: "t" },
      id: newId("event"),
      processed_at: at(6),
    };
    await events.append(lease, [
      ...numbers(4).map((second) => ({ thread: null, event: message(`${second}`, at(second)) })),
      { thread, event: idle(5) },
      { thread, event: asks },
    ]);
    const read = async (range: object): Promise<number[]> =>
      (await events.read(lease.session, { limit: 10, ...range })).map(({ seq }) => seq);
    expect(await read({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await read({ after: 2, limit: 2 })).toEqual([3, 4]);
    expect(await read({ after: 1, before: 4 })).toEqual([2, 3]);
    expect(await read({ order: "desc", limit: 2 })).toEqual([6, 5]);
    expect(await read({ order: "desc", before: 3 })).toEqual([2, 1]);
    expect(await read({ types: ["session.status_running", "agent.tool_use"] })).toEqual([5, 6]);
    expect(await read({ types: [] })).toEqual([]);
    expect(await read({ thread })).toEqual([5, 6]);
    // Calls that wait for a person are shown on the primary thread too.
    expect(await read({ thread: null })).toEqual([1, 2, 3, 4, 6]);
    expect(await read({ since: { gt: at(2), lte: "2026-01-31T13:00:04+01:00" } })).toEqual([3, 4]);
    expect(await read({ since: { gte: at(2), lt: at(4) } })).toEqual([2, 3]);
    await expect(read({ since: { gt: "yesterday" } })).rejects.toMatchObject({ code: "invalid_request" });
  },

  "A long log and long events are read completely": defaultTenantOnly(async (stage) => {
    const lease = await stage.session();
    const long = "x".repeat(300_000);
    await stage.store.events.append(
      lease,
      numbers(3_000).map((number) => ({ thread: null, event: message(`${number}`) })),
    );
    await stage.store.events.append(
      lease,
      numbers(10).map(() => ({ thread: null, event: message(long) })),
    );
    const up = await stage.store.events.read(lease.session, { limit: 5_000 });
    expect(up.map(({ seq }) => seq)).toEqual(numbers(3_010));
    expect(up.slice(-10).every(({ event }) => textOf(event) === long)).toBe(true);
    const down = await stage.store.events.read(lease.session, { limit: 1_000, order: "desc" });
    expect(down.map(({ seq }) => seq)).toEqual(numbers(1_000, 2_011).toReversed());
    await stage.store.sessions.delete(lease);
  }),

  "Reading many long events together takes no longer than one by one": defaultTenantOnly(async (stage) => {
    const lease = await stage.session();
    const heavy = "x".repeat(inject("soak") ? 500_000 : 100_000);
    const written: LoggedEvent[] = [];
    for (const _ of numbers(120)) {
      written.push(...(await stage.store.events.append(lease, [{ thread: null, event: message(heavy) }])));
    }
    const took = async (work: () => Promise<unknown>): Promise<number> => {
      const begun = performance.now();
      await work();
      return performance.now() - begun;
    };
    const single = await took(async () => {
      for (const { event } of written) await stage.store.events.find(lease.session, event.id);
    });
    const together = await took(async () => {
      expect(await stage.store.events.read(lease.session, { limit: 1_000 })).toHaveLength(120);
    });
    // Reading each part together with everything after it would take about 30 times as long.
    expect(together).toBeLessThan(5 * single + 500 * inject("slowness"));
    // Later behaviours read the whole database.
    await stage.store.sessions.delete(lease);
  }),

  "An event is found by its id, and the head is the last number": async (stage) => {
    const { events } = stage.store;
    const lease = await stage.session();
    expect(await events.head(lease.session)).toBe(0);
    const [, second] = (await stage.appendEach(lease, ["one", "two"])).flat();
    expect(await events.find(lease.session, second!.event.id)).toEqual(second);
    expect(await events.find(lease.session, "sevt_none")).toBeUndefined();
    const elsewhere = await stage.session();
    expect(await events.find(elsewhere.session, second!.event.id)).toBeUndefined();
    expect(await events.head(lease.session)).toBe(2);
    expect(await events.head(newId("session"))).toBe(0);
  },

  "Events, the session's row, threads and consumed input are written atomically": async (stage) => {
    const { row, ...lease } = await stage.session({}, [sent("first")]);
    const [waiting] = await stage.store.inputQueue.list(row.id);
    const thread = threadRow(row);
    const change = {
      status: "running",
      title: null,
      usage: usage(250),
      activeMs: 7,
      claudeSession: "uuid",
      waitingFor: [{ event_id: "e", type: "tool_confirmation", name: "Bash" }],
    } as const;
    await stage.store.events.append(lease, [{ thread: null, event: { ...waiting!, processed_at: at(1) } }], {
      session: { ...change, waitingFor: [...change.waitingFor] },
      taken: [waiting!.id],
      threads: [thread],
    });
    const after = await stage.store.sessions.get(row.id);
    expect(after).toEqual({ ...row, ...change, updatedAt: after!.updatedAt });
    expect(after!.updatedAt >= row.updatedAt).toBe(true);
    expect(await stage.store.inputQueue.list(row.id)).toEqual([]);
    expect((await stage.store.sessions.threads(row.id)).map(({ id }) => id)).toEqual(
      [row.primaryThread, thread.id].sort(),
    );

    const ended = { ...thread, status: "idle", usage: usage(9), updatedAt: at(9) } as const;
    await stage.store.events.append(lease, [], {
      session: { archivedAt: at(3), agent: { ...row.agent, version: 2 } },
      threads: [ended],
    });
    expect(await stage.store.sessions.threads(row.id)).toContainEqual(ended);
    expect(await stage.store.sessions.get(row.id)).toMatchObject({
      ...change,
      archivedAt: at(3),
      agent: { version: 2 },
    });
    expect(await stage.store.events.head(row.id)).toBe(1);
  },

  "A stale writer is rejected, and nothing of its append is written": async (stage) => {
    const { row } = await stage.session({}, [sent("wait")]);
    const [waiting] = await stage.store.inputQueue.list(row.id);
    const old = { session: row.id, token: 1 };
    await stage.store.leases.release(old);
    const lease = await stage.other.leases.take(row.id, "other", 60_000);
    const late = stage.store.events.append(old, [{ thread: null, event: message("late") }], {
      session: { title: "late" },
      taken: [waiting!.id],
      threads: [threadRow(row)],
    });
    await expect(late).rejects.toBeInstanceOf(LeaseLost);
    await expect(late).rejects.toMatchObject({ code: "lease_lost", session: row.id });
    expect(await stage.store.events.read(row.id, { limit: 1 })).toEqual([]);
    expect(await stage.store.inputQueue.list(row.id)).toEqual([waiting]);
    expect(await stage.store.sessions.get(row.id)).toEqual(row);
    expect(await stage.store.sessions.threads(row.id)).toHaveLength(1);
    const [good] = await stage.other.events.append(lease!, [{ thread: null, event: message("good") }]);
    expect(good!.seq).toBe(1);
  },

  "A released lease cannot write": async (stage) => {
    const lease = await stage.session();
    await stage.store.leases.release(lease);
    await expect(stage.appendEach(lease, ["late"])).rejects.toBeInstanceOf(LeaseLost);
    expect(await stage.store.events.head(lease.session)).toBe(0);
  },

  "A failed append affects no other append of its batch and leaves no gap": async (stage) => {
    const lease = await stage.session();
    const [first] = (await stage.appendEach(lease, ["first"])).flat();
    const append = (events: SessionEvent[]) =>
      stage.store.events.append(
        lease,
        events.map((event) => ({ thread: null, event })),
      );
    const outcomes = await Promise.allSettled([
      append([message("a")]),
      append([message("b"), first!.event]),
      stage.store.events.append({ ...lease, token: 99 }, [{ thread: null, event: message("c") }]),
      append([message("d"), message("e")]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(outcomes[1]).toMatchObject({ reason: { code: "conflict" } });
    const events = await stage.store.events.read(lease.session, { limit: 10 });
    expect(events.map(({ seq, event }) => [seq, textOf(event)])).toEqual([
      [1, "first"],
      [2, "a"],
      [3, "d"],
      [4, "e"],
    ]);
  },

  "Processes that write many shared sessions at once do not deadlock": defaultTenantOnly(async (stage) => {
    const leases = await Promise.all(numbers(12).map(() => stage.session()));
    const stores = [stage.store, stage.other];
    const rounds = numbers(10).flatMap((round) =>
      stores.flatMap((store, side) => [
        ...leases.map((lease, index) =>
          index % 2 === side
            ? store.events.append(lease, [{ thread: null, event: message("mine") }], { session: { activeMs: round } })
            : store.inputQueue.put(lease.session, [sent("yours")]),
        ),
        store.leases.renew(leases.toReversed(), 60_000),
      ]),
    );
    const outcomes = await Promise.allSettled(rounds);
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
    for (const { session } of leases) {
      expect(await stage.store.events.head(session)).toBe(10);
      expect(await stage.store.inputQueue.list(session)).toHaveLength(10);
    }
  }),

  "A retried append, whose response was lost, is stored once": async (stage) => {
    const lease = await stage.session();
    const entries = ["a", "b"].map((text) => ({ thread: null, event: message(text) }));
    const once = await stage.store.events.append(lease, entries);
    await stage.appendEach(lease, ["c"]);
    expect(await stage.store.events.append(lease, entries)).toEqual(once);
    expect(await stage.store.events.head(lease.session)).toBe(3);
  },
};
