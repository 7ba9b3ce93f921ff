import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId, systemClock } from "@tandem/protocol";
import { createEmbeddedQueue } from "@tandem/queue";
import { openStore, type WorkerRow } from "@tandem/storage";
import { expect, onTestFinished, test, vi } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { DrainRequests } from "./drain-requests.ts";
import { FleetMember } from "./fleet-member.ts";

const BEAT_MS = 2_000;

async function join_(role: WorkerRow["role"]) {
  const folder = await mkdtemp(join(tmpdir(), "tandem-member-"));
  const store = await openStore(join(folder, "tandem.db"));
  const queue = createEmbeddedQueue();
  const clock = new MovableClock();
  const onDrainRequest = vi.fn<() => void>();
  const refresh = vi.fn<() => Promise<void>>(async () => undefined);
  const id = newId("worker");
  const member = new FleetMember({
    store,
    queue,
    clock,
    onDrainRequest,
    peers: { refresh },
    open: () => [],
    runsOf: () => Promise.reject(new Error("There are no sessions.")),
    log: { warn: () => undefined },
    row: {
      id,
      role,
      holder: id,
      machine: "here",
      labels: {},
      maxSessions: 1,
      tenants: null,
      roots: [],
      address: null,
      payer: null,
      version: "0",
      startedAt: new Date().toISOString(),
    },
  });
  onTestFinished(async () => {
    await member.stop(0);
    await queue[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  await member.start();
  return { id, member, store, clock, onDrainRequest, refresh };
}

test.each(["server", "worker", "all"] as const)("a process of the role %s drains when it is asked to", async (role) => {
  const { id, store, clock, onDrainRequest } = await join_(role);
  clock.advance(BEAT_MS);
  await new DrainRequests(store.records, systemClock).ask(id, "ann");
  await expect
    .poll(() => {
      clock.advance(BEAT_MS);
      return onDrainRequest.mock.calls.length;
    })
    .toBe(1);
});

test("a process does not look for work again while the last look has no answer, but sends heartbeats", async () => {
  const { id, clock, refresh, store } = await join_("worker");
  const seenAt = async (): Promise<string> => (await store.workers.list()).find((row) => row.id === id)!.seenAt;
  const hung = Promise.withResolvers<void>();
  refresh.mockReturnValue(hung.promise);
  const { length } = refresh.mock.calls;
  await expect
    .poll(() => {
      clock.advance(BEAT_MS);
      return refresh.mock.calls.length;
    })
    .toBe(length + 1);
  const seen = await seenAt();
  await expect
    .poll(() => {
      clock.advance(BEAT_MS);
      return seenAt();
    })
    .not.toBe(seen);
  expect(refresh.mock.calls.length).toBe(length + 1);
  hung.resolve();
  refresh.mockResolvedValue(undefined);
  await expect
    .poll(() => {
      clock.advance(BEAT_MS);
      return refresh.mock.calls.length;
    })
    .toBeGreaterThan(length + 1);
});
