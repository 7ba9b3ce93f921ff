import { newId, type SessionEventBody, type SessionId } from "@tandem/protocol";
import { createEmbeddedQueue } from "@tandem/queue";
import type { Store } from "@tandem/storage";
import { expect, onTestFinished, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { RecentOutage } from "./recent-outage.ts";
import { WorkerCall } from "./worker-call.ts";

test("a session that waits for a missing worker again is logged again, although another one waits all the time", async () => {
  const clock = new MovableClock();
  const queue = createEmbeddedQueue();
  onTestFinished(() => queue[Symbol.asyncDispose]());
  const [first, second] = [newId("session"), newId("session")];
  let waiting = [first, second];
  const since = new Date(clock.now() - 60_000).toISOString();
  const store = {
    leases: {
      waitingForWorker: async () => waiting.map((session) => ({ session, place: "machine:gone", since })),
    },
    workers: { list: async () => [] },
    events: { read: async () => [] },
  } as unknown as Store;
  const worker = { id: newId("worker"), machine: "here", labels: {}, tenants: null };
  const peers = { contested: async () => new Set<SessionId>(), ended: async () => undefined };
  const outage = new RecentOutage(clock);
  const fleet = { queue, role: "server" as const, tenant: "default", worker, maxSessions: 1, peers, outage };
  const logged: (readonly [SessionId, SessionEventBody["type"]])[] = [];
  const call = new WorkerCall(store, fleet, clock, async (session, work) => {
    await work({
      giveUp: async () => undefined,
      change: async (make) => void logged.push(...make().events.map(({ type }) => [session, type] as const)),
    });
  });
  await call.sweep();
  await call.sweep();
  expect(logged).toEqual([
    [first, "tandem.unplaced"],
    [second, "tandem.unplaced"],
  ]);

  // A worker takes the first one, and dies.
  waiting = [second];
  await call.sweep();
  waiting = [first, second];
  await call.sweep();
  expect(logged.slice(2)).toEqual([[first, "tandem.unplaced"]]);
});
