import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId, systemClock, type LoggedEvent, type SessionId } from "@tandem/protocol";
import { createEmbeddedQueue, type Run } from "@tandem/queue";
import { always, text, toolUse } from "@tandem/rehearsal";
import type { Lease, SessionRow } from "@tandem/storage";
import { startPostgres, whyNoPostgres, type TestPostgres } from "@tandem/storage/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { RecentOutage } from "../fleet/recent-outage.ts";
import {
  ALLOW_ALL,
  isIdle,
  setEngineStage,
  textsOf,
  the,
  type EngineStage,
  type RunningEngine,
} from "../testing/engine-stage.ts";
import { judgeSession } from "../testing/judge-session.ts";

const missing = whyNoPostgres();
const TTL_MS = 1_000;
/** Longer than Postgres takes to start on a busy machine. */
const WAIT_MS = 15_000 * inject("slowness");

describe.skipIf(missing)(`an outage of Postgres${missing ? ` (skipped: ${missing})` : ""}`, () => {
  const parts = new AsyncDisposableStack();
  const lines: string[] = [];
  let stage: EngineStage;
  let postgres: TestPostgres;
  let worker: RunningEngine;
  /** Whether the other worker has its database. By default it has none either. */
  let canTakeOver = false;
  const members = new Map<string, RunningEngine>();
  /** Called when a worker has taken a lease and waits for its former holder. */
  let onTaken = (): void => undefined;

  beforeAll(async () => {
    postgres = parts.use(await startPostgres());
    stage = parts.use(await setEngineStage());
    const queue = parts.use(createEmbeddedQueue({ attempts: 2, pauseSeconds: 1 }));
    const location = await postgres.createDatabase();
    const enter = async (): Promise<RunningEngine> => {
      const id = newId("worker");
      const fleet = {
        queue,
        role: "all" as const,
        tenant: "default",
        worker: { id, machine: "here", labels: {}, tenants: null },
        maxSessions: 10,
        peers: {
          contested: async (rows: readonly SessionRow[]) => new Set(canTakeOver ? rows.map((row) => row.id) : []),
          ended: async (former: string | undefined, lease: Lease) => {
            await members.get(former ?? "")?.engine.runs.endTaken(lease);
            onTaken();
          },
        },
        outage: new RecentOutage(systemClock),
      };
      const log = { warn: (_: unknown, message: string) => void lines.push(message) };
      const joined = await stage.open({ location, leaseTtl: TTL_MS, databaseWait: WAIT_MS, fleet, holder: id, log });
      members.set(id, joined);
      const { runs } = joined.engine;
      const handle = (run: Run, signal: AbortSignal) => runs.advance(run.key as SessionId, signal);
      const working = queue.work(["any", "machine:here"], () => 10, handle, { tenants: null });
      parts.defer(() => working.stop(0));
      return joined;
    };
    // The other worker could take a session whose lease expires during the outage.
    [worker] = await Promise.all([enter(), enter()]);
  });
  afterAll(() => parts.disposeAsync());
  beforeEach(() => void lines.splice(0));

  const path = (name: string): string => join(stage.folder, name);
  const command = (name: string): string =>
    `echo began >> ${name}; while [ ! -f go-${name} ]; do sleep 0.05; done; echo ended >> ${name}`;
  const reasonOf = (events: readonly LoggedEvent[]) => the(events, "session.status_idle").stop_reason.type;

  test("pauses a turn in the middle of a call, and the turn completes when Postgres is back", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: command("short") }), always(text("Done."))]);
    const session = await worker.session({}, ALLOW_ALL);
    await worker.say(session, "Run it.");
    await expect.poll(() => existsSync(path("short"))).toBe(true);
    await postgres.kill();
    await expect.poll(() => lines.some((line) => line.includes("the session is paused"))).toBe(true);
    // A suspended command makes no progress, because another worker could have the session by now.
    const [pid] = await stage.processes();
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toMatch(/\) T /);
    writeFileSync(path("go-short"), "");
    await postgres.start();
    const events = await worker.until(session, isIdle);
    expect({ reason: reasonOf(events), texts: textsOf(events) }).toEqual({ reason: "end_turn", texts: ["Done."] });
    expect(events.filter(({ event }) => event.type === "session.error")).toEqual([]);
    expect(readFileSync(path("short"), "utf8")).toBe("began\nended\n");
    expect(textsOf(await worker.turn(session, "And now?"))).toEqual(["Done."]);
    expect(await judgeSession(worker, session)).toEqual([]);
  });

  test("ends a process before its lease expires if another worker may take over, although the database hangs", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: command("hung") }), always(text("Answered."))]);
    const before = await stage.processes();
    const session = await worker.session({}, ALLOW_ALL);
    await worker.say(session, "Run it.");
    await expect.poll(() => existsSync(path("hung"))).toBe(true);
    const running = (await stage.processes()).filter((pid) => !before.includes(pid));
    expect(running).not.toEqual([]);
    canTakeOver = true;
    {
      using _ = postgres.pause();
      await expect.poll(() => running.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    }
    canTakeOver = false;
    await worker.until(session, isIdle);
    expect(textsOf(await worker.turn(session, "And now?"))).toEqual(["Answered."]);
    expect(readFileSync(path("hung"), "utf8")).toBe("began\n");
  });

  test("of one worker: another one that it does not know waits until the suspended process has ended", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: command("alone") }), always(text("Done."))]);
    const before = await stage.processes();
    const session = await worker.session({}, ALLOW_ALL);
    await worker.say(session, "Run it.");
    await expect.poll(() => existsSync(path("alone"))).toBe(true);
    const running = (await stage.processes()).filter((pid) => !before.includes(pid));
    expect(running).not.toEqual([]);
    const { leases } = members.get((await worker.store.leases.holder(session.id as SessionId))!.holder)!.store;
    const renew = leases.renew.bind(leases);
    leases.renew = () => Promise.reject(new Error("The database is away."));
    let left: number[] | undefined;
    onTaken = () => (left ??= running.filter((pid) => existsSync(`/proc/${pid}`)));
    const events = await worker.until(session, isIdle);
    leases.renew = renew;
    expect(left).toEqual([]);
    expect(the(events, "tandem.recovered")).toBeDefined();
    expect(textsOf(await worker.turn(session, "And now?"))).toEqual(["Done."]);
    expect(readFileSync(path("alone"), "utf8")).toBe("began\n");
    expect(await judgeSession(worker, session)).toEqual([]);
  });

  test("does not keep a worker from saying that a session taken from it has no process any more", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: command("asked") }), always(text("Done."))]);
    const before = await stage.processes();
    const session = await worker.session({}, ALLOW_ALL);
    await worker.say(session, "Run it.");
    await expect.poll(() => existsSync(path("asked"))).toBe(true);
    const running = (await stage.processes()).filter((pid) => !before.includes(pid));
    expect(running).not.toEqual([]);
    const id = session.id as SessionId;
    const { holder } = (await worker.store.leases.holder(id))!;
    const { runs } = members.get(holder)!.engine;
    await runs.endTaken({ session: id, token: 0 });
    expect(running.filter((pid) => existsSync(`/proc/${pid}`))).toEqual(running);
    {
      using _ = postgres.pause();
      const asked = performance.now();
      await runs.endTaken({ session: id, token: Number.MAX_SAFE_INTEGER });
      expect(running.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
      expect(performance.now() - asked).toBeLessThan(1_500 * inject("slowness"));
    }
    expect(the(await worker.until(session, isIdle), "tandem.recovered")).toBeDefined();
    expect(readFileSync(path("asked"), "utf8")).toBe("began\n");
  });

  test("ends a turn after the bound, names the cause, and the next message is answered", async () => {
    stage.rehearsal.use([toolUse("Bash", { command: command("long") }), always(text("Answered."))]);
    const session = await worker.session({}, ALLOW_ALL);
    await worker.say(session, "Run it.");
    await expect.poll(() => existsSync(path("long"))).toBe(true);
    await postgres.kill();
    await expect.poll(() => lines.includes("a session was lost")).toBe(true);
    // At most one of the idle processes is left.
    await expect.poll(async () => (await stage.processes()).length).toBeLessThanOrEqual(1);
    await postgres.start();
    const events = await worker.until(session, isIdle);
    const cause = expect.stringMatching(/^The database did not answer for /);
    expect(the(events, "tandem.recovered").cause).toEqual(cause);
    expect(the(events, "session.error").error.message).toEqual(cause);
    expect(reasonOf(events)).toBe("retries_exhausted");
    expect(textsOf(await worker.turn(session, "And now?"))).toEqual(["Answered."]);
    expect(readFileSync(path("long"), "utf8")).toBe("began\n");
  });
});
