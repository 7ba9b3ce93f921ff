import { cronTimes, newId, parseCron, RequestError } from "@tandem/protocol";
import { scratchStore } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import { DeploymentRecords } from "./deployment-records.ts";
import { newRun } from "./run-records.ts";
import type { StoredDeployment, StoredRun } from "./stored-deployment.ts";
import { deploymentOf, runProcess, StillClock, type World } from "./testing/killed-scheduler.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const store = await scratchStore();

/** Each test has records of its own, as another tenant would. */
function worldAt(at: string): World {
  const prefix = newId("job");
  const { records } = store;
  return {
    clock: new StillClock(at),
    sessions: new Map(),
    records: {
      get: (space, ...rest) => records.get(prefix + space, ...rest),
      getMany: (space, ...rest) => records.getMany(prefix + space, ...rest),
      list: (space, ...rest) => records.list(prefix + space, ...rest),
      write: (space, ...rest) => records.write(prefix + space, ...rest),
    },
  };
}

async function deploy(world: World, expression: string, zone?: string): Promise<StoredDeployment> {
  const made = deploymentOf(world.clock, expression, zone);
  const records = new DeploymentRecords(world.records);
  await records.write(records.put(made, 0, world.clock.now()));
  return made;
}

/** Oldest first. */
const runsOf = (world: World, deployment?: string): Promise<StoredRun[]> =>
  new DeploymentRecords(world.records).runs({ limit: 10_000, order: "asc", deployment });

const change = async (world: World, { id }: StoredDeployment, with_: Partial<StoredDeployment>): Promise<void> => {
  const records = new DeploymentRecords(world.records);
  const { value, version } = await records.get(id);
  await records.write(records.put({ ...value, ...with_ }, version, world.clock.now()));
};

const get = async (world: World, { id }: StoredDeployment): Promise<StoredDeployment> =>
  (await new DeploymentRecords(world.records).get(id)).value;

test("starts at the time, not before, and once", async () => {
  const world = worldAt("2026-03-02T08:59:59Z");
  const made = await deploy(world, "0 9 * * *");
  await runProcess(world);
  expect(await runsOf(world)).toEqual([]);
  world.clock.at += 1_000;
  await Promise.all([runProcess(world), runProcess(world), runProcess(world)]);
  await runProcess(world);
  const runs = await runsOf(world);
  expect(runs).toMatchObject([{ state: "started", scheduledAt: "2026-03-02T09:00:00.000Z", deployment: made.id }]);
  expect([...world.sessions.values()]).toEqual([1]);
  expect((await get(world, made)).lastRunAt).toBe("2026-03-02T09:00:00.000Z");
});

test("after downtime, the last time runs late within an hour, and all others are recorded as missed", async () => {
  const world = worldAt("2026-03-02T08:30:00Z");
  await deploy(world, "0 * * * *");
  world.clock.at = Date.parse("2026-03-02T13:59:00Z");
  await runProcess(world);
  const runs = await runsOf(world);
  expect(runs.map(({ scheduledAt, state }) => `${scheduledAt?.slice(11, 16)} ${state}`)).toEqual([
    "09:00 failed",
    "10:00 failed",
    "11:00 failed",
    "12:00 failed",
    "13:00 started",
  ]);
  expect(runs[0]).toMatchObject({
    error: { type: "session_creation_rejected_error", message: "Missed: No server was running at that time." },
    missed: { reason: "downtime" },
  });
  await deploy(world, "0 9 * * *");
  world.clock.at = Date.parse("2026-03-03T10:00:00Z");
  await runProcess(world);
  expect((await runsOf(world)).at(-1)).toMatchObject({ state: "started" });
  const daily = (await runsOf(world)).filter(({ scheduledAt }) => scheduledAt === "2026-03-03T09:00:00.000Z");
  // An hour is too late for the daily one; the hourly one had another chance.
  expect(daily.map(({ state }) => state)).toEqual(["failed", "failed"]);
});

test("a long downtime adds at most 100 runs, and the oldest one counts the others", async () => {
  const world = worldAt("2026-03-01T00:00:30Z");
  await deploy(world, "* * * * *");
  world.clock.at += DAY;
  await runProcess(world);
  const runs = await runsOf(world);
  expect(runs).toHaveLength(101);
  expect(runs[0]).toMatchObject({ missed: { reason: "downtime", earlier: 1_440 - 101 } });
  expect(runs.filter(({ state }) => state === "started")).toHaveLength(1);
  expect(runs.at(-1)).toMatchObject({ state: "started", scheduledAt: "2026-03-02T00:00:00.000Z" });
});

test("a stopped server records the time as missed", async () => {
  const world = worldAt("2026-03-02T08:30:00Z");
  await deploy(world, "0 9 * * *");
  world.halt = { at: "2026-03-02T08:45:00Z", by: "ana", reason: null };
  world.clock.at += HOUR;
  await runProcess(world);
  expect(await runsOf(world)).toMatchObject([{ state: "failed", missed: { reason: "stopped" } }]);
  delete world.halt;
  world.clock.at += DAY;
  await runProcess(world);
  expect((await runsOf(world)).map(({ state }) => state)).toEqual(["failed", "started"]);
});

test("paused schedules do not fire, and continue with the next time", async () => {
  const world = worldAt("2026-03-02T08:30:00Z");
  const made = await deploy(world, "0 9 * * *");
  await change(world, made, { paused: { type: "manual" } });
  world.clock.at += 2 * DAY;
  await runProcess(world);
  await change(world, made, { paused: null, handledTo: new Date(world.clock.now()).toISOString() });
  await runProcess(world);
  expect(await runsOf(world)).toEqual([]);
  world.clock.at += HOUR;
  await runProcess(world);
  expect(await runsOf(world)).toMatchObject([{ state: "started", scheduledAt: "2026-03-04T09:00:00.000Z" }]);
});

test("a clock that is set back repeats no time; one that was far ahead does not silence the schedule", async () => {
  const world = worldAt("2026-03-02T08:59:00Z");
  await deploy(world, "*/10 * * * *");
  for (const at of ["09:00:05", "08:55:00", "09:00:10", "09:05:00"]) {
    world.clock.at = Date.parse(`2026-03-02T${at}Z`);
    await runProcess(world);
  }
  expect(await runsOf(world)).toHaveLength(1);
  world.clock.at = Date.parse("2029-01-01T00:00:30Z");
  await runProcess(world);
  world.clock.at = Date.parse("2026-03-02T09:10:05Z");
  await runProcess(world);
  world.clock.at = Date.parse("2026-03-02T09:20:05Z");
  await runProcess(world);
  const found = (await runsOf(world)).filter(({ scheduledAt }) => scheduledAt === "2026-03-02T09:20:00.000Z");
  expect(found).toMatchObject([{ state: "started" }]);
  expect([...world.sessions.values()].every((count) => count === 1)).toBe(true);
});

test("errors that would come again pause the schedule, others do not", async () => {
  const world = worldAt("2026-03-02T08:59:00Z");
  const made = await deploy(world, "0 * * * *");
  const fail = async (failure: Error) => {
    world.failure = failure;
    world.clock.at = Math.ceil((world.clock.at + 1) / HOUR) * HOUR;
    await runProcess(world);
    return [(await runsOf(world)).at(-1), (await get(world, made)).paused] as const;
  };
  const quota = new RequestError("forbidden", "There are 5 sessions.", { detail: "quota_reached" });
  expect(await fail(quota)).toMatchObject([{ error: { type: "session_rate_limited_error" } }, null]);
  const rejected = new RequestError("forbidden", "No.");
  expect(await fail(rejected)).toMatchObject([{ error: { type: "session_creation_rejected_error" } }, null]);
  const gone = new RequestError("not_found", "Gone.", { detail: "environment_not_found" });
  expect(await fail(gone)).toMatchObject([
    { error: { type: "environment_not_found_error", message: "Gone." } },
    { type: "error", error: { type: "environment_not_found_error" } },
  ]);
  expect(await fail(gone)).toMatchObject([{ scheduledAt: "2026-03-02T11:00:00.000Z" }, { type: "error" }]);
});

test("a delivery that waits for a process does not start a run of an archived deployment", async () => {
  const world = worldAt("2026-03-02T08:59:59Z");
  const made = await deploy(world, "0 9 1 1 *");
  const records = new DeploymentRecords(world.records);
  const run = newRun(made, { time: null, id: newId("deploymentRun", world.clock.now()), by: "trigger" }, world.clock);
  const cause = { trigger: "trig_1", event: null, text: "Look.", requester: null };
  const retryAt = new Date(world.clock.now()).toISOString();
  await records.write(records.addRun({ ...run, cause, attempts: 0, retryAt }));
  await change(world, made, { archivedAt: retryAt });
  await runProcess(world);
  expect(await runsOf(world)).toMatchObject([
    { state: "failed", error: { message: "The deployment was archived before the session was created." } },
  ]);
  expect(world.sessions.size).toBe(0);
});

test("an unreachable database leaves the run for a retry", async () => {
  const world = worldAt("2026-03-02T08:59:00Z");
  await deploy(world, "0 9 * * *");
  world.failure = new RequestError("unavailable", "The database cannot be used.");
  world.clock.at += MINUTE;
  await runProcess(world);
  expect(await runsOf(world)).toMatchObject([{ state: "starting" }]);
  delete world.failure;
  await runProcess(world);
  expect(await runsOf(world)).toMatchObject([{ state: "starting" }]);
  world.clock.at += MINUTE;
  await runProcess(world);
  expect(await runsOf(world)).toMatchObject([{ state: "started" }]);
  expect([...world.sessions.values()]).toEqual([1]);
});

test("killed at any point, a run is neither lost nor doubled", async () => {
  for (let killAt = 0; ; killAt += 1) {
    const world = worldAt("2026-03-02T08:59:00Z");
    await deploy(world, "0 9 * * *");
    world.clock.at += MINUTE;
    const { steps } = await runProcess(world, killAt);
    world.clock.at += MINUTE;
    await runProcess(world);
    expect(await runsOf(world), `killed before step ${killAt + 1}`).toMatchObject([
      { state: "started", scheduledAt: "2026-03-02T09:00:00.000Z" },
    ]);
    expect([...world.sessions.values()]).toEqual([1]);
    if (steps <= killAt) return;
  }
});

/** Processes that live for random times, are killed at random, and are away at random. Each due time has exactly one run. */
async function simulate(days: number, seed: number): Promise<{ started: number; missed: number; kills: number }> {
  let state = seed;
  const random = (): number => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) / 4_294_967_296;
  const world = worldAt("2026-03-20T00:00:30Z");
  const begun = world.clock.at;
  const made = [
    await deploy(world, "*/30 * * * *"),
    await deploy(world, "0 9 * * 1-5", "Europe/Berlin"),
    await deploy(world, "30 2 * * *", "Europe/Berlin"),
    await deploy(world, "15 */2 * * *", "Australia/Lord_Howe"),
  ];
  let kills = 0;
  for (const end = begun + days * DAY; world.clock.at < end;) {
    const away = random();
    world.clock.at += Math.round((away < 0.9 ? random() * 20 * MINUTE : random() * 6 * HOUR) + 1);
    const killAt = random() < 0.3 ? Math.floor(random() * 8) : Infinity;
    if (killAt < Infinity) kills += 1;
    await Promise.all([runProcess(world, killAt), ...(random() < 0.2 ? [runProcess(world)] : [])]);
  }
  world.clock.at += 2 * MINUTE;
  await runProcess(world);
  const counts = { started: 0, missed: 0, kills };
  for (const { id, schedule } of made) {
    const parsed = parseCron(schedule!.expression);
    if (!parsed.ok) throw new Error(parsed.reason);
    const due: string[] = [];
    for (const time of cronTimes(parsed.cron, schedule!.timezone, begun)) {
      if (time > world.clock.at) break;
      due.push(new Date(time).toISOString());
    }
    const runs = await runsOf(world, id);
    expect(new Set(runs.map(({ scheduledAt }) => scheduledAt))).toEqual(new Set(due));
    expect(runs).toHaveLength(due.length);
    for (const run of runs) {
      expect(run.state === "failed" ? run.missed : run.state).toEqual(
        run.state === "failed" ? { reason: "downtime" } : "started",
      );
      counts[run.state === "failed" ? "missed" : "started"] += 1;
    }
  }
  expect([...world.sessions.values()].every((count) => count === 1)).toBe(true);
  expect(world.sessions.size).toBe(counts.started);
  return counts;
}

const isSoak = process.env["TANDEM_SOAK"] !== undefined;

test(`${isSoak ? "months" : "days"} of schedules with killed processes: each due time once, or recorded as missed`, async () => {
  for (const seed of isSoak ? [1, 2, 3] : [1]) {
    const { started, missed, kills } = await simulate(isSoak ? 31 : 2, seed);
    expect(Math.min(started, missed, kills)).toBeGreaterThan(10);
  }
});
