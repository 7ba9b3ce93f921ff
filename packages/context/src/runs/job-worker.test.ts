import { RequestError, type JobId } from "@tandem/protocol";
import { createEmbeddedQueue, type RunQueue } from "@tandem/queue";
import { openStore, type Store } from "@tandem/storage";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { jobKind } from "./job-kind.ts";
import { JobRunner } from "./job-runner.ts";

let folder: string;
let store: Store;
/** The same database, as another process opens it. */
let other: Store;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-job-worker-"));
  store = await openStore(join(folder, "store.db"));
  other = await openStore(join(folder, "store.db"));
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

let spaces = 0;
const newSpace = (): string => `ctx_${(spaces += 1)}`;

/** A process with jobs that last until the test ends them, or until they are interrupted. */
function openProcess(
  holder: string,
  space: string,
  { on = store, queue, params = z.unknown() }: { on?: Store; queue?: RunQueue; params?: z.ZodType } = {},
) {
  const started: unknown[] = [];
  const warnings: string[] = [];
  let ended = Promise.withResolvers<unknown>();
  const runner = new JobRunner({
    store: on,
    space,
    holder,
    kinds: {
      wait: jobKind(params, (run, given) => {
        started.push(given);
        const stopped = new Promise((_, reject) =>
          run.signal.addEventListener("abort", () => reject(run.signal.reason)),
        );
        return Promise.race([ended.promise, stopped]);
      }),
    },
    models: { llm: undefined, modelOf: () => "none" },
    log: { warn: (_, message) => void warnings.push(message) },
    fleet: queue && { queue, tenant: "default" },
  });
  const end = (): void => {
    ended.resolve({ by: holder });
    ended = Promise.withResolvers<unknown>();
  };
  return { runner, started, warnings, end, [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose]() };
}

const stateOf = async (id: string) => (await store.jobs.get(id))?.state;
const jobsIn = async (space: string) => (await store.jobs.list({ space, limit: 10 })).data;
const settled = (results: PromiseSettledResult<unknown>[], status: "fulfilled" | "rejected") =>
  results.filter((result) => result.status === status);

test("a process that runs no jobs sends them to one that does", async () => {
  const space = newSpace();
  await using queue = createEmbeddedQueue();
  await using server = openProcess("server", space, { queue });
  const starting = server.runner.start("wait", { name: "first" });
  await expect.poll(() => queue.depth()).toMatchObject([{ place: `context:${space}`, waiting: 1, running: 0 }]);
  await using worker = openProcess("worker", space, { queue });
  await worker.runner.resume();
  const { id } = await starting;
  expect([await stateOf(id), server.started, worker.started]).toEqual(["running", [], [{ name: "first" }]]);
  await expect(server.runner.start("wait", {})).rejects.toMatchObject({
    code: "conflict",
    message: `Another wait is under way here: worker works on ${id}.`,
  });
  expect(await server.runner.cancel(id)).toMatchObject({ cancelRequested: true });
  await expect.poll(() => stateOf(id)).toBe("cancelled");
  await expect.poll(() => queue.depth()).toEqual([]);
});

test("another worker resumes the job of a stopping worker", async () => {
  const space = newSpace();
  await using queue = createEmbeddedQueue({ attempts: 1 });
  await using first = openProcess("first", space, { queue });
  await first.runner.resume();
  const { id } = await first.runner.start("wait", {});
  await using second = openProcess("second", space, { queue });
  await second.runner.resume();
  await first.runner[Symbol.asyncDispose]();
  await expect.poll(() => second.started).toHaveLength(1);
  second.end();
  await expect.poll(() => store.jobs.get(id)).toMatchObject({ state: "done", result: { by: "second" } });
  expect([await queue.dead(), first.warnings, second.warnings]).toEqual([[], [], []]);
});

test("a job that its holder releases between two looks is taken", async () => {
  const space = newSpace();
  await using queue = createEmbeddedQueue({ attempts: 1 });
  // A worker looks for cancelled jobs first, then for one to take.
  let hidden = 0;
  const waiting: Store["jobs"]["waiting"] = async (...args) => {
    const jobs = await store.jobs.waiting(...args);
    if (hidden === 0) return jobs;
    hidden -= 1;
    return [];
  };
  await using worker = openProcess("worker", space, { queue, on: { ...store, jobs: { ...store.jobs, waiting } } });
  await worker.runner.resume();
  hidden = 2;
  await using server = openProcess("server", space, { queue });
  const { id } = await server.runner.start("wait", {});
  expect([await stateOf(id), hidden]).toEqual(["running", 0]);
  worker.end();
  await expect.poll(() => stateOf(id)).toBe("done");
});

test("a run that cannot be taken becomes a dead letter, and can be requeued", async () => {
  const space = newSpace();
  await using queue = createEmbeddedQueue({ attempts: 2, pauseSeconds: 0 });
  let isBroken = true;
  const take: Store["jobs"]["take"] = async (...args) => {
    if (isBroken) throw new RequestError("unavailable", "The disk is full.");
    return store.jobs.take(...args);
  };
  const on = { ...store, jobs: { ...store.jobs, take } };
  await using worker = openProcess("worker", space, { queue, on });
  await worker.runner.resume();
  await expect(worker.runner.start("wait", {})).rejects.toMatchObject({ message: "The disk is full." });
  await expect.poll(() => queue.dead()).toHaveLength(1);
  expect((await queue.dead())[0]).toMatchObject({
    run: { kind: "job", key: `${space}:wait` },
    error: "The disk is full.",
    attempts: 2,
  });
  const { id } = (await jobsIn(space))[0]!;
  isBroken = false;
  // Workers look for unfinished jobs from time to time. A run that has failed too often stays with the dead letters.
  await worker.runner.resume();
  expect([await stateOf(id), (await queue.dead()).length]).toEqual(["queued", 1]);
  expect(await queue.requeue(`${space}:wait`)).toBe(true);
  await expect.poll(() => stateOf(id)).toBe("running");
  worker.end();
  await expect.poll(() => stateOf(id)).toBe("done");
});

test.each([
  ["one process", () => store],
  ["two processes with one queue each", () => other],
])("of jobs that %s start at once, one runs and the others are refused", async (_, second) => {
  for (let round = 0; round < 5; round += 1) {
    const space = newSpace();
    await using a = openProcess("a", space);
    await using b = second() === store ? a : openProcess("b", space, { on: second() });
    const calls = [a, b, a, b].map(({ runner }, index) => runner.start("wait", { index }));
    const results = await Promise.allSettled(calls);
    expect(settled(results, "fulfilled")).toHaveLength(1);
    for (const refused of settled(results, "rejected")) {
      expect(refused).toMatchObject({
        reason: { code: "conflict", message: /^Another wait is under way here: [ab] / },
      });
    }
    expect((await jobsIn(space)).map(({ state }) => state)).toEqual(["running"]);
    expect([...a.started, ...(a === b ? [] : b.started)]).toHaveLength(1);
  }
});

test("a job that may wait runs after the one of another process", async () => {
  const space = newSpace();
  await using command = openProcess("command", space, { on: other });
  await using server = openProcess("server", space);
  const { id } = await command.runner.start("wait", {});
  const second = server.runner.start("wait", { name: "second" }, { mayWait: true });
  await expect.poll(async () => (await jobsIn(space)).length).toBe(2);
  command.end();
  await second;
  expect([await stateOf(id), server.started]).toEqual(["done", [{ name: "second" }]]);
});

test("a command runs its own job only", async () => {
  const space = newSpace();
  const crashed = openProcess("crashed", space);
  const left = await crashed.runner.start("wait", { name: "left" });
  await crashed.runner[Symbol.asyncDispose]();
  await using command = openProcess("command", space);
  const run = command.runner.run("wait", { name: "own" }, { onStart: () => {} });
  await expect.poll(() => command.started).toHaveLength(1);
  command.end();
  expect(await run).toMatchObject({ state: "done" });
  expect([await stateOf(left.id), command.started]).toEqual(["interrupted", [{ name: "own" }]]);
});

test("a server leaves jobs alone whose parameters only a command knows", async () => {
  const space = newSpace();
  const command = openProcess("command", space);
  const { id } = await command.runner.start("wait", { files: ["only here"] });
  await command.runner[Symbol.asyncDispose]();
  await using server = openProcess("server", space, { params: z.strictObject({ name: z.string() }) });
  await server.runner.resume();
  await server.runner.start("wait", { name: "known" });
  server.end();
  await expect.poll(async () => (await jobsIn(space)).map(({ state }) => state)).toEqual(["done", "interrupted"]);
  await server.runner.resume();
  expect([await stateOf(id), server.warnings]).toEqual(["interrupted", ["a job could not be resumed"]]);
});

test("the `running` record of version 0.1.0 neither blocks a job nor is needed to refuse one", async () => {
  const space = newSpace();
  const record = (job: string) =>
    store.records.write(space, [{ type: "put", kind: "running", key: "wait", value: { job } }]);
  // The record of a job that has ended, or was deleted, stayed behind.
  await record("job_gone");
  await using server = openProcess("server", space);
  const { id } = await server.runner.start("wait", {});
  server.end();
  await expect.poll(() => stateOf(id)).toBe("done");
  // A process of 0.1.0 runs a job: it holds the lease of the job that the record names.
  const theirs = {
    ...(await store.jobs.get(id))!,
    id: "job_theirs" as JobId,
    state: "running" as const,
    endedAt: null,
  };
  await store.jobs.create(theirs);
  await store.jobs.take(theirs.id, "0.1.0", 60_000);
  await record(theirs.id);
  await expect(server.runner.start("wait", {})).rejects.toMatchObject({
    code: "conflict",
    message: "Another wait is under way here: 0.1.0 works on job_theirs.",
  });
});
