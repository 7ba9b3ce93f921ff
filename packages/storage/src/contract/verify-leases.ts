import { newId } from "@tandem/protocol";
import { expect } from "vitest";
import { LeaseLost } from "../lease-lost.ts";
import type { Lease } from "../lease.ts";
import { withProcess } from "../local-process.ts";
import { sent, sessionRow } from "./samples.ts";
import { numbers, until, type Behaviours } from "./storage-stage.ts";

const MINUTE = 60_000;
/** Names a process that has ended: no process of this machine starts at this time. */
const DEAD = withProcess("killed").replace(/"start":"[^"]*"/, '"start":"1"');

export const verifyLeases: Behaviours = {
  "One of many concurrent takers gets the lease; the others see its holder": async (stage) => {
    const row = sessionRow();
    await stage.store.sessions.create(row, []);
    expect(await stage.store.leases.holder(row.id)).toBeUndefined();
    const taken = await Promise.all(
      numbers(20).map((number) =>
        (number % 2 ? stage.store : stage.other).leases.take(row.id, `taker ${number}`, MINUTE),
      ),
    );
    const winner = taken.findIndex((lease) => lease !== undefined) + 1;
    expect(taken.filter((lease) => lease !== undefined)).toEqual([{ session: row.id, token: 1 }]);
    const held = await stage.other.leases.holder(row.id);
    expect(held?.holder).toBe(`taker ${winner}`);
    expect(Date.parse(held!.expiresAt)).toBeGreaterThan(Date.now() + MINUTE / 2);
  },

  "An expired lease is taken over, and its former holder learns that it is lost": async (stage) => {
    const row = sessionRow();
    await stage.store.sessions.create(row, []);
    const old = (await stage.store.leases.take(row.id, "old", 50))!;
    const kept = await stage.session();
    const lease = await until(() => stage.other.leases.take(row.id, "new", MINUTE));
    expect(lease.token).toBeGreaterThan(old.token);
    expect(await stage.store.leases.renew([old, kept], MINUTE)).toEqual([old]);
    await expect(stage.appendEach(old, ["late"])).rejects.toBeInstanceOf(LeaseLost);
    // The former holder cannot release the new lease.
    await stage.store.leases.release(old);
    expect((await stage.store.leases.holder(row.id))?.holder).toBe("new");
    await stage.appendEach(lease, ["good"], stage.other);
  },

  "A lease whose holder died on this machine is free at once, also that of a job": async (stage) => {
    const [running, idle] = [sessionRow({ status: "running" }), sessionRow()];
    for (const row of [running, idle]) {
      await stage.store.sessions.create(row, []);
      await stage.store.leases.take(row.id, DEAD, MINUTE);
    }
    const { id: job } = (await stage.job()).row;
    await stage.store.jobs.release({ job, token: 1 });
    await stage.store.jobs.take(job, DEAD, MINUTE);
    expect(await stage.other.leases.holder(idle.id)).toBeUndefined();
    expect((await stage.other.leases.take(idle.id, "next", MINUTE))?.token).toBe(2);
    expect(await stage.other.leases.abandoned()).toContain(running.id);
    expect((await stage.other.jobs.take(job, "next", MINUTE))?.token).toBe(3);
    await expect(stage.appendEach({ session: running.id, token: 1 }, ["late"])).rejects.toBeInstanceOf(LeaseLost);
  },

  "An expired lease still works until another process takes it": async (stage) => {
    const row = sessionRow();
    await stage.store.sessions.create(row, []);
    const lease = (await stage.store.leases.take(row.id, "slow", 1))!;
    await until(async () => ((await stage.store.leases.holder(row.id)) ? undefined : true));
    expect(await stage.other.leases.take(row.id, "other", MINUTE, { onlyReleased: true })).toBeUndefined();
    await stage.appendEach(lease, ["still mine"]);
    expect(await stage.store.leases.renew([lease], MINUTE)).toEqual([]);
    expect(await stage.other.leases.take(row.id, "other", MINUTE)).toBeUndefined();
  },

  "Tokens grow with each take and are never reused": async (stage) => {
    const { session } = await stage.session();
    let last: Lease = { session, token: 1 };
    for (const store of [stage.other, stage.store, stage.other]) {
      await store.leases.release(last);
      const next = (await store.leases.take(session, "again", MINUTE))!;
      expect(next.token).toBeGreaterThan(last.token);
      last = next;
    }
  },

  "Running sessions without a lease holder are found": async (stage) => {
    const rows = [
      sessionRow({ status: "running" }),
      sessionRow({ status: "rescheduling" }),
      sessionRow({ status: "idle" }),
    ];
    for (const row of rows) await stage.store.sessions.create(row, []);
    const held = await stage.session({ status: "running" });
    const released = await stage.session({ status: "running" });
    await stage.store.leases.release(released);
    const abandoned = await stage.store.leases.abandoned();
    expect(abandoned).toEqual(expect.arrayContaining([rows[0]!.id, rows[1]!.id, released.session]));
    expect(abandoned).not.toContain(rows[2]!.id);
    expect(abandoned).not.toContain(held.session);
  },

  "Sessions that need a worker are found, with their place and waiting time": async (stage) => {
    const wanted = async () =>
      new Map((await stage.other.leases.waitingForWorker()).map(({ session, ...rest }) => [session, rest]));
    const idle = sessionRow({ place: "machine:a" });
    const waits = sessionRow({ place: "needs:gpu=yes" });
    const died = sessionRow({ status: "running", place: null });
    await stage.store.sessions.create(idle, []);
    await stage.store.sessions.create(waits, [sent("one"), sent("two")]);
    await stage.store.sessions.create(died, [sent("late")]);
    const held = await stage.session({ status: "running" }, [sent("heard")]);
    const found = await wanted();
    expect(found.get(waits.id)).toEqual({ place: "needs:gpu=yes", since: expect.any(String) });
    expect(Math.abs(Date.parse(found.get(waits.id)!.since) - Date.now())).toBeLessThan(MINUTE);
    expect(found.get(died.id)).toEqual({ place: null, since: expect.any(String) });
    expect([idle.id, held.session].filter((id) => found.has(id))).toEqual([]);
    const lease = (await stage.store.leases.take(waits.id, "taker", MINUTE))!;
    await stage.store.leases.release(held);
    await stage.store.leases.take(died.id, "brief", 1);
    await until(async () => ((await wanted()).has(died.id) ? true : undefined));
    expect((await wanted()).has(waits.id)).toBe(false);
    expect((await wanted()).has(held.session)).toBe(true);
    const taken = (await stage.store.inputQueue.list(waits.id)).map(({ id }) => id);
    await stage.store.events.append(lease, [], { taken });
    await stage.store.leases.release(lease);
    expect((await wanted()).has(waits.id)).toBe(false);
  },

  "Held leases are listed with their holders": async (stage) => {
    const rows = numbers(3).map(() => sessionRow());
    for (const row of rows) await stage.store.sessions.create(row, []);
    const holder = `holder of ${rows[0]!.id}`;
    const kept = (await stage.store.leases.take(rows[0]!.id, holder, MINUTE))!;
    const released = (await stage.store.leases.take(rows[1]!.id, holder, MINUTE))!;
    await stage.store.leases.take(rows[2]!.id, holder, 1);
    await stage.store.leases.release(released);
    const held = await until(async () => {
      const found = (await stage.other.leases.held()).filter((each) => each.holder === holder);
      return found.length === 1 ? found : undefined;
    });
    expect(held).toEqual([{ session: kept.session, holder, expiresAt: expect.any(String) }]);
  },

  "Taking a lease on an unknown session is rejected": async (stage) => {
    const none = newId("session");
    await expect(stage.store.leases.take(none, "me", MINUTE)).rejects.toMatchObject({ code: "not_found" });
    expect(await stage.store.leases.holder(none)).toBeUndefined();
    expect(await stage.store.leases.renew([{ session: none, token: 1 }], MINUTE)).toHaveLength(1);
    expect(await stage.store.leases.renew([], MINUTE)).toEqual([]);
  },
};
