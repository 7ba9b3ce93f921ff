import type { Environment } from "@tandem/protocol";
import { type SessionRow } from "@tandem/storage";
import { scratchStore } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { WorkQueue } from "./work-queue.ts";

const LEASE_MS = 10_000;
/** Every session is in a turn. */
const running = { status: "running", waitingFor: [], archivedAt: null } as unknown as SessionRow;

let clock: MovableClock;
let environment = "";
/** Two processes of a fleet. */
let one: WorkQueue;
let two: WorkQueue;
const store = await scratchStore();
beforeEach(() => {
  clock = new MovableClock();
  environment = `env_${Math.random().toString(36).slice(2)}`;
  const queue = () =>
    new WorkQueue({
      store: { ...store, sessions: { ...store.sessions, get: async () => running } },
      environment: async () => ({ config: { type: "self_hosted" } }) as Environment,
      tenant: "default",
      settings: { workLease: LEASE_MS },
      clock,
    });
  [one, two] = [queue(), queue()];
});

const request = (session: string, queue = one) =>
  queue.request({ id: session as never, environmentId: environment, selfHosted: true });
const poll = (queue = one, blockMs = 0) => queue.poll(environment, { blockMs, signal: new AbortController().signal });
const beat = (id: string, expected?: string, isResumed = false) =>
  one.heartbeat(environment, id, { expected, ttlMs: undefined, isResumed });
const states = async () => (await one.list(environment, { limit: 10 })).data.map(({ state }) => state);

test("requests of several processes queue one item, and one of several polls gets it", async () => {
  await Promise.all([request("sesn_1"), request("sesn_1", two), request("sesn_1")]);
  expect(await states()).toEqual(["queued"]);
  const polled = await Promise.all([poll(one), poll(two), poll(one), poll(two)]);
  expect(polled.filter(Boolean)).toHaveLength(1);
});

test("a waiting poll gets an item as soon as it is queued, the oldest first", async () => {
  const waiting = poll(one, 60_000);
  await request("sesn_a");
  expect((await waiting)?.data.id).toBe("sesn_a");
  await request("sesn_b");
  clock.advance(10);
  await request("sesn_c");
  expect([(await poll())?.data.id, (await poll(two))?.data.id, await poll()]).toEqual(["sesn_b", "sesn_c", null]);
});

test("a worker that misses its heartbeats loses the item, its token and its next heartbeat", async () => {
  await request("sesn_1");
  const first = await poll();
  await one.ack(environment, first!.id);
  const { last_heartbeat: last } = await beat(first!.id, "NO_HEARTBEAT");
  clock.advance(LEASE_MS - 1_000);
  expect(await poll(two)).toBeNull();
  clock.advance(1_000);
  const second = await poll(two);
  expect(second?.id).toBe(first!.id);
  await expect(beat(first!.id, last)).rejects.toMatchObject({ lease: { last_heartbeat: null, state: "queued" } });
  const tokens = (await store.tokens.list()).filter(({ worker }) => worker?.work?.id === first!.id);
  expect(tokens).toHaveLength(1);
  await two.ack(environment, first!.id);
  expect(await beat(first!.id, "NO_HEARTBEAT")).toMatchObject({ state: "active" });
});

test("a repeated heartbeat whose answer was lost is accepted once more", async () => {
  await request("sesn_1");
  const { id } = (await poll())!;
  await one.ack(environment, id);
  const { last_heartbeat: first } = await beat(id, "NO_HEARTBEAT");
  const second = await beat(id, first);
  expect(await beat(id, first, true)).toEqual(second);
  await expect(beat(id, first)).rejects.toThrow(/another one/);
});

test("a message while an item stops queues another one when it has stopped, also if the worker is dead", async () => {
  await request("sesn_1");
  const { id } = (await poll())!;
  await one.ack(environment, id);
  await one.stop(environment, id, { force: false, byWorker: false });
  await request("sesn_1");
  expect(await states()).toEqual(["stopping"]);
  clock.advance(LEASE_MS);
  expect(await poll(two)).toBeNull();
  expect(await states()).toEqual(["queued", "stopped"]);
  expect((await poll(two))?.data.id).toBe("sesn_1");
  expect((await store.tokens.list()).filter(({ worker }) => worker?.work?.id === id)).toEqual([]);
});

test("only the token of the present worker counts, also if old ones were not deleted", async () => {
  // The process is killed before it deletes them.
  const tokens: string[] = [];
  const killed = new WorkQueue({
    store: {
      ...store,
      sessions: { ...store.sessions, get: async () => running },
      tokens: { ...store.tokens, create: async ({ id }) => void tokens.push(id), delete: async () => false },
    },
    environment: async () => ({ config: { type: "self_hosted" } }) as Environment,
    tenant: "default",
    settings: { workLease: LEASE_MS },
    clock,
  });
  await request("sesn_1");
  const { id } = (await poll(killed))!;
  await killed.ack(environment, id);
  const held = () => Promise.all(tokens.map((token) => one.isHeldWith(environment, id, token)));
  expect(await held()).toEqual([true]);
  clock.advance(LEASE_MS);
  await poll(killed);
  expect(await held()).toEqual([false, true]);
  await killed.stop(environment, id, { force: true, byWorker: false });
  expect(await held()).toEqual([false, false]);
});

test("old stopped items and workers that are gone are deleted, and nothing else", async () => {
  const DAY = 24 * 60 * 60_000;
  const worker = { blockMs: 0, worker: "w1", signal: new AbortController().signal };
  await request("sesn_1");
  const { id } = (await one.poll(environment, worker))!;
  await one.stop(environment, id, { force: true, byWorker: false });
  await request("sesn_2");
  one.start();
  clock.advance(29 * DAY);
  await request("sesn_3");
  const kept = (await poll())!;
  await one.stop(environment, kept.id, { force: true, byWorker: false });
  expect(await states()).toEqual(["queued", "stopped", "stopped"]);
  clock.advance(2 * DAY);
  await expect.poll(states).toEqual(["queued", "stopped"]);
  await expect(one.get(environment, id)).rejects.toMatchObject({ code: "not_found" });
  expect(await store.records.list("work", "work_poller", { prefix: `${environment}/`, limit: 10 })).toEqual([]);
  one.stopPruning();
});
