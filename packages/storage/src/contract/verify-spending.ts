import { newId } from "@tandem/protocol";
import { expect } from "vitest";
import { LeaseLost } from "../lease-lost.ts";
import type { AccountState, Claim } from "../spending.ts";
import type { Store } from "../store.ts";
import { sessionRow } from "./samples.ts";
import { defaultTenantOnly, numbers, until, type Stage, type Behaviours } from "./storage-stage.ts";

const agent = (of: string, fields: Partial<Claim> = {}): Claim => ({
  scope: "agent",
  of,
  unit: "usd",
  total: 0,
  reserve: 0,
  limit: null,
  ...fields,
});

async function stateOf(store: Store, of: string): Promise<Pick<AccountState, "spent" | "reserved"> | undefined> {
  const [state] = await store.spending.read({ of });
  return state && { spent: state.spent, reserved: state.reserved };
}

const leases = (stage: Stage, count: number) => Promise.all(numbers(count).map(() => stage.session()));

export const verifySpending: Behaviours = {
  "Concurrent reservations succeed while they fit; the others see the remaining amount": async (stage) => {
    const of = newId("agent");
    const sessions = await leases(stage, 12);
    const tried = await Promise.all(
      sessions.map((lease, index) =>
        (index % 2 ? stage.store : stage.other).spending.settle(lease, [agent(of, { reserve: 30, limit: 100 })]),
      ),
    );
    expect(tried.filter((short) => short.length === 0)).toHaveLength(3);
    for (const short of tried.filter(({ length }) => length > 0)) {
      expect(short).toEqual([{ scope: "agent", of, unit: "usd", spent: 0, reserved: 90, limit: 100 }]);
    }
    expect(await stateOf(stage.store, of)).toEqual({ spent: 0, reserved: 90 });
    // A new reservation replaces the old one.
    const winner = sessions[tried.findIndex((short) => short.length === 0)]!;
    expect(await stage.store.spending.settle(winner, [agent(of, { reserve: 40, limit: 100 })])).toEqual([]);
    expect(await stage.store.spending.reservedBy(winner.session)).toEqual({ usd: 40 });
    expect(await stage.store.spending.settle(winner, [agent(of, { reserve: 41, limit: 100 })])).toHaveLength(1);
    expect(await stateOf(stage.store, of)).toEqual({ spent: 0, reserved: 100 });
  },

  "A reservation is made on all accounts or none, and spending is always counted": defaultTenantOnly(async (stage) => {
    const [wide, narrow] = [newId("agent"), newId("agent")];
    const lease = await stage.session();
    const claims = (total: number, reserve: number) => [
      agent(wide, { total, reserve, limit: 1_000 }),
      { ...agent(narrow, { total, reserve, limit: 50 }), scope: "project" as const },
    ];
    expect(await stage.store.spending.settle(lease, claims(0, 40))).toEqual([]);
    const short = await stage.store.spending.settle(lease, claims(30, 40));
    expect(short).toMatchObject([{ of: narrow, spent: 30, reserved: 0, limit: 50 }]);
    // The unspent part of the old reservation stays, on both accounts.
    expect(await stateOf(stage.store, wide)).toEqual({ spent: 30, reserved: 10 });
    expect(await stateOf(stage.store, narrow)).toEqual({ spent: 30, reserved: 10 });
    expect(await stage.store.spending.settle(lease, claims(30, 0))).toEqual([]);
    expect(await stateOf(stage.store, wide)).toEqual({ spent: 30, reserved: 0 });
  }),

  "Spending is counted once per total, however often it is reported": async (stage) => {
    const of = newId("agent");
    const lease = await stage.session();
    for (const total of [0, 10, 10, 25, 25]) await stage.store.spending.settle(lease, [agent(of, { total })]);
    expect(await stateOf(stage.other, of)).toEqual({ spent: 25, reserved: 0 });
    // A new writer knows only the log, which may lack the last writer's unlogged spending.
    await stage.store.spending.settle(lease, [agent(of, { total: 20 })]);
    expect(await stateOf(stage.other, of)).toEqual({ spent: 20, reserved: 0 });
    const other = await stage.session();
    for (const total of [0, 7]) await stage.other.spending.settle(other, [agent(of, { total })]);
    expect(await stateOf(stage.store, of)).toEqual({ spent: 27, reserved: 0 });
  },

  "Spending after the switch to a new account is charged to that account only": async (stage) => {
    const [monday, tuesday] = [newId("agent"), newId("agent")];
    const lease = await stage.session();
    await stage.store.spending.settle(lease, [agent(monday)]);
    await stage.store.spending.settle(lease, [agent(monday, { total: 10, reserve: 5 })]);
    await stage.store.spending.settle(lease, [agent(tuesday, { total: 14, reserve: 5 })]);
    expect(await stateOf(stage.store, monday)).toEqual({ spent: 10, reserved: 0 });
    expect(await stateOf(stage.store, tuesday)).toEqual({ spent: 4, reserved: 5 });
    await stage.store.spending.settle(lease, []);
    expect(await stateOf(stage.store, tuesday)).toEqual({ spent: 4, reserved: 0 });
  },

  "Spending before the first report is not counted": async (stage) => {
    const of = newId("agent");
    const lease = await stage.session();
    for (const total of [500, 500, 503]) await stage.store.spending.settle(lease, [agent(of, { total })]);
    expect(await stateOf(stage.store, of)).toEqual({ spent: 3, reserved: 0 });
  },

  "A reservation ends with its lease: released, expired, taken over or deleted": async (stage) => {
    const of = newId("agent");
    const reserve = [agent(of, { reserve: 10, limit: 10 })];
    const nothingHeld = () => until(async () => ((await stateOf(stage.store, of))!.reserved === 0 ? true : undefined));
    const back = await stage.session();
    expect(await stage.store.spending.settle(back, reserve)).toEqual([]);
    const next = await stage.session();
    expect(await stage.store.spending.settle(next, reserve)).toHaveLength(1);
    await stage.store.leases.release(back);
    await nothingHeld();
    expect(await stage.store.spending.settle(next, reserve)).toEqual([]);
    await stage.store.sessions.delete(next);
    await nothingHeld();
    const row = sessionRow();
    await stage.store.sessions.create(row, []);
    const dead = (await stage.store.leases.take(row.id, "soon dead", 300))!;
    expect(await stage.store.spending.settle(dead, reserve)).toEqual([]);
    await nothingHeld();
    expect(await stage.store.spending.reservedBy(row.id)).toEqual({});
    const heir = (await stage.other.leases.take(row.id, "heir", 60_000))!;
    expect(await stateOf(stage.store, of)).toEqual({ spent: 0, reserved: 0 });
    expect(await stage.other.spending.settle(heir, reserve)).toEqual([]);
    expect(await stateOf(stage.store, of)).toEqual({ spent: 0, reserved: 10 });
  },

  "Spending of no session is charged on all accounts or none, next to reservations": async (stage) => {
    const [wide, narrow] = [newId("agent"), newId("agent")];
    const lease = await stage.session();
    await stage.store.spending.settle(lease, [agent(narrow, { reserve: 30, limit: 100 })]);
    const charge = (store: Store, amount: number) =>
      store.spending.charge([
        { scope: "agent", of: wide, unit: "usd", amount, limit: null },
        { scope: "agent", of: narrow, unit: "usd", amount, limit: 100 },
      ]);
    const tried = await Promise.all(numbers(12).map((index) => charge(index % 2 ? stage.store : stage.other, 20)));
    expect(tried.filter((short) => short.length === 0)).toHaveLength(3);
    for (const short of tried.filter(({ length }) => length > 0)) {
      expect(short).toEqual([{ scope: "agent", of: narrow, unit: "usd", spent: 60, reserved: 30, limit: 100 }]);
    }
    expect(await stateOf(stage.store, wide)).toEqual({ spent: 60, reserved: 0 });
    // A charge takes from what sessions can reserve; a correction gives it back.
    expect(await stage.store.spending.settle(lease, [agent(narrow, { reserve: 41, limit: 100 })])).toHaveLength(1);
    expect(await charge(stage.store, -15)).toEqual([]);
    expect(await stage.store.spending.settle(lease, [agent(narrow, { reserve: 41, limit: 100 })])).toEqual([]);
    expect(await stateOf(stage.other, narrow)).toEqual({ spent: 45, reserved: 41 });
  },

  "A stale writer can neither count nor reserve": async (stage) => {
    const of = newId("agent");
    const lease = await stage.session();
    await stage.store.spending.settle(lease, [agent(of)]);
    await stage.store.leases.release(lease);
    const late = stage.store.spending.settle(lease, [agent(of, { total: 5, reserve: 5 })]);
    await expect(late).rejects.toBeInstanceOf(LeaseLost);
    expect(await stateOf(stage.store, of)).toEqual({ spent: 0, reserved: 0 });
  },
};
