import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId, type AuditNote, type LoggedEvent, type SessionId, systemClock } from "@tandem/protocol";
import { createEmbeddedQueue, jobRun } from "@tandem/queue";
import { openStore, type WorkerRow } from "@tandem/storage";
import { expect, onTestFinished, test } from "vitest";
import { AccountLimits } from "./account-limits.ts";
import { createFleet } from "./create-fleet.ts";
import { DrainRequests } from "./drain-requests.ts";
import { TurnCounter } from "./throughput.ts";

async function setFleet({ isAlone = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "tandem-fleet-"));
  const store = await openStore(join(folder, "tandem.db"));
  const queue = createEmbeddedQueue({ attempts: 1 });
  onTestFinished(async () => {
    await queue[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  const notes: AuditNote[] = [];
  const fleet = createFleet({
    store,
    records: store.records,
    limits: new AccountLimits(store.records, systemClock),
    queue: isAlone ? undefined : queue,
    jobQueue: isAlone ? queue : undefined,
    here: { holder: "tandem up here", roots: [folder] },
    clock: systemClock,
    note: async (note) => void notes.push(note),
  });
  return { fleet, store, queue, notes };
}

const worker = (more: Partial<WorkerRow> = {}): WorkerRow => ({
  id: newId("worker"),
  holder: "tandem up there",
  role: "worker",
  host: "alpha",
  machine: "alpha",
  labels: {},
  tenants: null,
  roots: [],
  address: null,
  version: "1.2.3",
  schema: 1,
  maxSessions: 4,
  sessions: 2,
  draining: false,
  startedAt: new Date().toISOString(),
  seenAt: "",
  payer: "anthropic_api_key",
  ...more,
});

test("a single process is listed with the turns that it counted", async () => {
  const { fleet, store } = await setFleet();
  const counter = new TurnCounter(store.records, { name: "tandem up here", tenant: "default" }, systemClock);
  let append: (session: SessionId, events: readonly LoggedEvent[]) => void = () => undefined;
  counter.start({
    onAppend(listener) {
      append = listener;
      return () => undefined;
    },
  });
  const idle = (type: "end_turn" | "requires_action"): LoggedEvent => ({
    seq: 1,
    thread: null,
    event: {
      type: "session.status_idle",
      id: newId("event"),
      processed_at: null,
      stop_details: null,
      stop_reason: type === "end_turn" ? { type } : { type, event_ids: [] },
    },
  });
  append(newId("session"), [idle("end_turn"), idle("requires_action"), idle("end_turn")]);
  await counter.stop();
  const status = await fleet.status();
  expect(status.workers).toMatchObject([{ name: "tandem up here", role: "all", state: "live", max_sessions: null }]);
  expect(status.throughput.minutes.reduce((sum, turns) => sum + turns, 0)).toBe(2);
  expect(status.workers[0]!.turns_per_minute).toBeGreaterThan(0);
  expect(status).toMatchObject({ queue: [], leases: { held: 0, abandoned: 0 }, limits: [], dead: 0 });
});

test("live workers are listed, and a drain request is delivered and audited", async () => {
  const { fleet, store, notes } = await setFleet();
  const row = worker();
  await store.workers.beat(row);
  expect((await fleet.status()).workers).toMatchObject([{ id: row.id, state: "live", sessions: 2, max_sessions: 4 }]);
  await expect(fleet.drain("wrk_nobody")).rejects.toMatchObject({ code: "not_found" });
  expect(await fleet.drain(row.id.slice(0, 12), "ann")).toMatchObject({ id: row.id, state: "draining" });
  expect(await new DrainRequests(store.records, systemClock).of(row.id)).toMatchObject({ by: "ann" });
  expect((await fleet.status()).workers).toMatchObject([{ state: "draining" }]);
  expect(notes).toMatchObject([{ kind: "fleet.drained", actor: "ann", details: { worker: row.id } }]);
});

test("runs without a matching worker are reported, and dead letters can be requeued", async () => {
  const { fleet, store, queue, notes } = await setFleet();
  await store.workers.beat(worker({ labels: { gpu: "yes" } }));
  const run = { kind: "session" as const, tenant: "default", priority: 0 };
  await queue.send({ ...run, key: "sesn_1", place: "needs:gpu=yes" });
  await queue.send({ ...run, key: "sesn_2", place: "machine:beta" });
  const places = (await fleet.status()).queue.map(({ place, waiting, served }) => [place, waiting, served]);
  expect(places).toContainEqual(["needs:gpu=yes", 1, true]);
  expect(places).toContainEqual(["machine:beta", 1, false]);
  const tried = Promise.withResolvers<void>();
  const working = queue.work(
    ["machine:beta"],
    () => 1,
    async () => {
      tried.resolve();
      throw new Error("It does not work.");
    },
  );
  await tried.promise;
  await expect.poll(() => fleet.dead()).toMatchObject([{ key: "sesn_2", place: "machine:beta", attempts: 1 }]);
  await working.stop(1_000);
  expect((await fleet.status()).dead).toBe(1);
  await fleet.requeue("sesn_2", "ann");
  expect(await fleet.dead()).toEqual([]);
  await expect(fleet.requeue("sesn_2")).rejects.toMatchObject({ code: "not_found" });
  expect(notes).toMatchObject([{ kind: "fleet.requeued", actor: "ann", details: { key: "sesn_2" } }]);
});

test("a single process lists its dead jobs, and they can be requeued", async () => {
  const { fleet, queue } = await setFleet({ isAlone: true });
  const run = jobRun("default", "ctx_1", "scan");
  const working = queue.work(
    [run.place],
    () => 1,
    async () => Promise.reject(new Error("The disk is full.")),
  );
  await queue.send(run);
  await expect.poll(() => fleet.dead()).toMatchObject([{ key: "ctx_1:scan", kind: "job", error: "The disk is full." }]);
  await working.stop(1_000);
  await fleet.requeue("ctx_1:scan");
  const { queue: waiting, dead } = await fleet.status();
  expect(waiting).toMatchObject([{ place: "context:ctx_1", waiting: 1, served: true }]);
  expect(dead).toBe(0);
});
