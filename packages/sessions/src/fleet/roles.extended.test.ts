import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId, RequestError, systemClock, type LoggedEvent, type SessionId } from "@tandem/protocol";
import { createEmbeddedQueue } from "@tandem/queue";
import { always, slowly, text, toolUse } from "@tandem/rehearsal";
import type { Lease } from "@tandem/storage";
import { afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { EngineSettings } from "../engine-settings.ts";
import { ALLOW_ALL, textsOf, isIdle, setEngineStage, typesOf, type RunningEngine } from "../testing/engine-stage.ts";
import { judgeSession } from "../testing/judge-session.ts";
import { FleetMember } from "./fleet-member.ts";
import type { FleetSettings } from "./fleet-settings.ts";
import { RecentOutage } from "./recent-outage.ts";

const parts = new AsyncDisposableStack();
const stage = parts.use(await setEngineStage());
const queue = parts.use(createEmbeddedQueue({ attempts: 2, pauseSeconds: 1 }));
const server = await enter("server");
afterAll(() => parts.disposeAsync());
beforeEach(() => stage.rehearsal.use([always(text("Yes."))]));

interface Member extends RunningEngine {
  member: FleetMember;
  holder: string;
  outage: RecentOutage;
}

/** An engine with a row and a queue consumer, like a process of a fleet. */
async function enter(
  role: FleetSettings["role"],
  { machine = "here", maxSessions = 10, labels = {} }: Partial<FleetSettings["worker"] & { maxSessions: number }> = {},
  overrides: Partial<EngineSettings> = {},
): Promise<Member> {
  const id = newId("worker");
  const holder = `${role} ${id}`;
  const worker = { id, machine, labels, tenants: null };
  const peers = { contested: async () => new Set<SessionId>(), ended: async () => undefined };
  const outage = new RecentOutage(systemClock);
  const fleet = { queue, role, tenant: "default", worker, maxSessions, peers, outage };
  const opened = await stage.open({ fleet, holder, recovery: "resume", home: join(stage.root, id), ...overrides });
  const { runs } = opened.engine;
  const member = new FleetMember({
    store: opened.store,
    queue,
    clock: systemClock,
    open: () => [runs],
    runsOf: async () => runs,
    log: { warn: () => undefined },
    row: {
      id,
      holder,
      role,
      machine,
      labels,
      maxSessions,
      tenants: null,
      roots: [],
      address: null,
      payer: null,
      version: "0",
      startedAt: new Date().toISOString(),
    },
  });
  await member.start();
  return { ...opened, member, holder, outage };
}

/** A worker of one test. */
async function enterWorker(place?: Parameters<typeof enter>[1], overrides?: Parameters<typeof enter>[2]) {
  const worker = await enter("worker", place, overrides);
  onTestFinished(async () => {
    await worker.member.drain();
    await worker.engine.stop(0);
    await worker.member.stop(1_000);
    await worker.stop();
  });
  return worker;
}

const isType = (type: string) => (logged: LoggedEvent) => logged.event.type === type;
const holderOf = async ({ store }: RunningEngine, { id }: { id: string }) =>
  (await store.leases.holder(id as never))?.holder;

test("a worker answers a message sent to a server, and releases an idle session when it may hold only one", async () => {
  const worker = await enterWorker({ maxSessions: 1 });
  const [first, second] = [await worker.session(), await worker.session()];
  const message = await server.say(first, "Are you there?");
  expect(textsOf(await server.until(first, isIdle))).toEqual(["Yes."]);
  expect(await holderOf(server, first)).toBe(worker.holder);
  // Held by now: the worker hears of it without the queue.
  expect(textsOf(await server.turn(first, "Still?"))).toEqual(["Yes."]);
  await server.turn(second, "Two?");
  expect(await holderOf(server, second)).toBe(worker.holder);
  expect(await holderOf(server, first)).toBeUndefined();
  // A message brings it back.
  expect(textsOf(await server.turn(first, "One again?"))).toEqual(["Yes."]);
  expect(await judgeSession(server, first, [message])).toEqual([]);
});

test("a server writes what needs no turn, and lets go at once; a session that no worker gets further says so", async () => {
  const worker = await enterWorker({}, { idle: 50 });
  const session = await worker.session();
  const titled = await server.engine.sessions.update(session.id, { title: "Named by a server" });
  expect(titled.title).toBe("Named by a server");
  await expect.poll(() => holderOf(server, session)).toBeUndefined();

  const get = worker.store.sessions.get.bind(worker.store.sessions);
  let isBroken = true;
  worker.store.sessions.get = (id) => (isBroken ? Promise.reject(new Error("the disk is broken")) : get(id));
  await server.say(session, "Hello?");
  const events = await server.until(session, isType("session.error"));
  expect(events.at(-1)?.event).toMatchObject({
    error: { message: expect.stringContaining("the disk is broken"), tandem: { code: "unavailable" } },
  });
  expect((await server.engine.sessions.get(session.id)).status).toBe("idle");
  await expect.poll(() => queue.dead()).toHaveLength(1);
  isBroken = false;
  // It is left alone until it is sent again.
  await queue.requeue(session.id);
  expect(textsOf(await server.until(session, isIdle))).toEqual(["Yes."]);

  await expect.poll(() => holderOf(server, session)).toBeUndefined();
  await server.engine.sessions.archive(session.id);
  expect(typesOf(await server.until(session, isType("session.status_terminated")))).toContain("session.updated");
});

test("a full worker leaves runs to others; a session that waits for it logs that", async () => {
  const full = await enterWorker({ maxSessions: 1 });
  const go = join(stage.folder, "go.txt");
  stage.rehearsal.use([toolUse("Bash", { command: `tail -F ${go} | grep -m1 go` }), always(text("Yes."))]);
  const [first, second] = [await full.session({}, ALLOW_ALL), await full.session()];
  await server.say(first, "Take your time.");
  await server.until(first, isType("agent.tool_use"));
  await server.say(second, "And me?");
  const waiting = await server.until(second, isType("tandem.notice"));
  expect(waiting.at(-1)!.event).toMatchObject({ text: expect.stringContaining("at its session limit") });
  const other = await enterWorker({ maxSessions: 1 });
  const events = await server.until(second, isIdle);
  expect(typesOf(events).filter((type) => type === "tandem.notice")).toHaveLength(1);
  expect(await holderOf(server, second)).toBe(other.holder);
  await writeFile(go, "go\n");
  expect(textsOf(await server.until(first, isIdle))).toEqual(["Yes."]);
});

test("a stopped worker leaves its turn between two steps, and another continues it", async () => {
  const leaving = await enterWorker();
  const done = join(stage.folder, "done.txt");
  const session = await leaving.session({}, ALLOW_ALL);
  stage.rehearsal.use(async ({ toolResults }) => {
    if (toolResults.length === 0) {
      return toolUse("Bash", { command: `echo begun > ${stage.folder}/begun.txt; tail -F ${done} | grep -m1 go` });
    }
    // The worker leaves before this response, also on a busy machine, where Claude Code of a fleet runs at low priority.
    const { events } = await server.engine.sessions.events(session.id, { limit: 1_000 });
    return typesOf(events).includes("tandem.handover")
      ? text("All done.")
      : slowly(text("Too late."), { firstByteMs: 600_000 });
  });
  const message = await server.say(session, "Do it.");
  await server.until(session, isType("agent.tool_use"));
  await expect.poll(() => existsSync(join(stage.folder, "begun.txt"))).toBe(true);
  const staying = await enterWorker();
  await leaving.member.drain();
  const stopped = leaving.engine.stop(240_000);
  await writeFile(done, "go\n");
  await stopped;
  const events = await server.until(session, isIdle);
  expect(textsOf(events)).toEqual(["All done."]);
  expect(typesOf(events)).toContain("tandem.handover");
  expect(typesOf(events)).not.toContain("tandem.recovered");
  expect(await holderOf(server, session)).toBe(staying.holder);
  // The call's result reached the model unchanged.
  expect(stage.rehearsal.modelRequests.at(-1)!.toolResults).toMatchObject([
    { isError: false, text: expect.stringMatching(/go$/) },
  ]);
  expect(await judgeSession(server, session, [message])).toEqual([]);
  await leaving.member.stop(1_000);
  expect((await server.store.workers.list()).map(({ holder }) => holder)).not.toContain(leaving.holder);
});

test("a turn without a matching worker logs that, and logs when one joins", async () => {
  const here = await enterWorker({ machine: "alpha" });
  const session = await here.session();
  await here.member.drain();
  await here.engine.stop(0);
  await here.member.stop(0);
  await server.say(session, "Is anybody there?");
  const waiting = await server.until(session, isType("tandem.unplaced"));
  expect(waiting.at(-1)?.event).toMatchObject({
    place: "machine:alpha",
    needs: "a worker on alpha, where its folder is",
    fix: "Start one on that machine with `tandem up --as worker`. The message waits.",
  });
  await enterWorker({ machine: "beta" });
  const back = await enterWorker({ machine: "alpha" });
  const events = await server.until(session, isIdle);
  expect(typesOf(events).filter((type) => type.includes("placed"))).toEqual(["tandem.unplaced", "tandem.placed"]);
  expect(textsOf(events)).toEqual(["Yes."]);
  expect(await holderOf(server, session)).toBe(back.holder);
});

test("a worker that cannot renew its lease suspends its process before the lease expires, and ends it later", async () => {
  const cut = await enterWorker({}, { leaseTtl: 3_000, databaseWait: 1_000 });
  stage.rehearsal.use([toolUse("Bash", { command: `tail -F ${stage.folder}/nothing.txt` }), always(text("Done."))]);
  const session = await cut.session({}, ALLOW_ALL);
  await server.say(session, "Wait.");
  await server.until(session, isType("agent.tool_use"));
  const [pid] = await stage.processes();
  // Only renewals fail here: with a whole database away, it could not take the session again.
  await cut.member.drain();
  cut.store.leases.renew = () => Promise.reject(new Error("the database is away"));
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8"), { interval: 20 }).toMatch(/\) T /);
  const suspendedAt = Date.now();
  // Read last: a renewal may still have been under way.
  const { holder, expiresAt } = (await server.store.leases.holder(session.id as never))!;
  expect(suspendedAt).toBeLessThan(Date.parse(expiresAt));
  expect(holder).toBe(cut.holder);
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  const staying = await enterWorker();
  const events = await server.until(session, isIdle);
  expect(typesOf(events)).toContain("tandem.recovered");
  expect(await holderOf(server, session)).toBe(staying.holder);
  expect(await judgeSession(server, session)).toEqual([]);
});

test.each([
  ["comes after it", (lease: Lease) => lease],
  [
    "is lost",
    () => {
      throw new RequestError("unavailable", "The database does not answer.");
    },
  ],
])("a promise to take over nothing holds for a lease whose answer %s", async (_, answer) => {
  const leaseTtl = 3_000;
  const worker = await enterWorker({}, { leaseTtl });
  const { leases } = worker.store;
  const take = leases.take.bind(leases);
  const session = await worker.session();
  let promisedAt: number | undefined;
  leases.take = async (...asked) => {
    const lease = await take(...asked);
    if (promisedAt !== undefined || !lease) return lease;
    promisedAt = Date.now();
    worker.outage.promise();
    return answer(lease);
  };
  await server.say(session, "Hello?");
  const events = await server.until(session, isIdle);
  expect(textsOf(events)).toEqual(["Yes."]);
  const { event } = events.find((each) => each.event.type === "session.status_running")!;
  expect(Date.parse(event.processed_at!)).toBeGreaterThanOrEqual(promisedAt! + leaseTtl);
});
