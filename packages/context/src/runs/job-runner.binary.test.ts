import type { JobId } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { ENGINES, type TestDatabase } from "../testing/engines.ts";
import { cancelJob } from "./cancel-job.ts";
import { jobKind } from "./job-kind.ts";
import { JobRunner } from "./job-runner.ts";

// The contract of the store proves that its engines behave alike.
describe.each(inject("soak") ? ENGINES : ENGINES.slice(0, 1))("the job runner on %s", (_, start) => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await start();
    store = await database.open();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const warnings: string[] = [];
  const begun: unknown[] = [];

  /** A runner whose jobs wait until the test ends them. */
  function openRunner(space: string, end: Promise<unknown>): JobRunner {
    return new JobRunner({
      store,
      space,
      holder: "a test",
      kinds: {
        wait: jobKind(z.strictObject({ name: z.string().default("nobody") }), async (run, params) => {
          begun.push(params);
          const stopped = new Promise((_, reject) =>
            run.signal.addEventListener("abort", () => reject(run.signal.reason)),
          );
          return Promise.race([end, stopped]);
        }),
      },
      models: { llm: undefined, modelOf: () => "none" },
      log: { warn: (_, message) => void warnings.push(message) },
    });
  }

  const stateOf = async (id: string) => (await store.jobs.get(id))?.state;

  test("an interrupted job is left unfinished and resumed by the next runner", async () => {
    const first = openRunner("one", new Promise(() => {}));
    const { id, params } = await first.start("wait", {});
    expect(params).toEqual({ name: "nobody" });
    await first[Symbol.asyncDispose]();
    expect(await stateOf(id)).toBe("interrupted");
    await expect(first.start("wait", {})).rejects.toMatchObject({ code: "unavailable" });

    const end = Promise.withResolvers<unknown>();
    await using second = openRunner("one", end.promise);
    await second.resume();
    await expect.poll(() => begun).toEqual([{ name: "nobody" }, { name: "nobody" }]);
    end.resolve({ well: "done" });
    await expect.poll(() => store.jobs.get(id)).toMatchObject({ state: "done", result: { well: "done" } });
    expect(warnings).toEqual([]);
  });

  test("jobs of other contexts and unknown kinds are not touched", async () => {
    await using other = openRunner("two", new Promise(() => {}));
    const { id } = await other.start("wait", { name: "theirs" });
    await other[Symbol.asyncDispose]();
    await using runner = openRunner("three", new Promise(() => {}));
    const before = begun.length;
    await runner.resume();
    expect([begun.length, await stateOf(id)]).toEqual([before, "interrupted"]);
    await using again = openRunner("two", new Promise(() => {}));
    await again.resume(["another"]);
    expect(begun.length).toBe(before);
    await again.resume(["another", "wait"]);
    await expect.poll(() => begun.length).toBe(before + 1);
  });

  test("all abandoned jobs are resumed, one after the other", async () => {
    const names = ["a", "b", "c"];
    const ids: string[] = [];
    for (const name of names) {
      const runner = openRunner("five", new Promise(() => {}));
      ids.push((await runner.start("wait", { name })).id);
      await runner[Symbol.asyncDispose]();
    }
    const before = begun.length;
    const end = Promise.withResolvers<unknown>();
    await using runner = openRunner("five", end.promise);
    await runner.resume();
    await expect.poll(() => begun.slice(before)).toEqual([{ name: "a" }]);
    expect(await Promise.all(ids.map(stateOf))).toEqual(["running", "interrupted", "interrupted"]);
    // A job cancelled while it waits is not started.
    expect(await runner.cancel(ids[1] as JobId)).toMatchObject({ state: "cancelled" });
    end.resolve({});
    await expect.poll(() => stateOf(ids[2]!)).toBe("done");
    expect(begun.slice(before)).toEqual([{ name: "a" }, { name: "c" }]);
    expect(await Promise.all(ids.map(stateOf))).toEqual(["done", "cancelled", "done"]);
    expect(warnings).toEqual([]);
  });

  /** Longer than the requests before its end take. */
  const TTL_MS = 1_500 * inject("slowness");

  /** A job whose lease outlives its worker. */
  async function heldByTheDead(space: string, name: string, ttlMs: number): Promise<JobId> {
    const runner = openRunner(space, new Promise(() => {}));
    const { id } = await runner.start("wait", { name });
    await runner[Symbol.asyncDispose]();
    expect(await store.jobs.take(id, "one who dies", ttlMs)).toBeDefined();
    return id;
  }

  test("a dead worker's job is resumed when its lease has expired", async () => {
    const id = await heldByTheDead("six", "orphan", TTL_MS);
    await using runner = openRunner("six", Promise.resolve({ late: true }));
    const before = begun.length;
    await runner.resume();
    await expect.poll(() => stateOf(id)).toBe("done");
    expect(begun.length).toBe(before + 1);
  });

  test("a cancel request survives the job's worker and its requester", async () => {
    const id = await heldByTheDead("seven", "dying", TTL_MS);
    await using runner = openRunner("seven", new Promise(() => {}));
    expect(await runner.cancel(id)).toMatchObject({ state: "running", cancelRequested: true });
    await expect.poll(() => stateOf(id)).toBe("cancelled");

    const other = await heldByTheDead("seven", "dying too", TTL_MS);
    expect(await cancelJob(store.jobs, other, "one who leaves")).toMatchObject({ state: "running" });
    await expect.poll(() => stateOf(other)).toBe("interrupted");
    const before = begun.length;
    await runner.resume();
    expect([begun.length, await stateOf(other)]).toEqual([before, "cancelled"]);
  });

  test("a job is cancelled with or without a worker, and only once", async () => {
    const runner = openRunner("four", new Promise(() => {}));
    const { id: left } = await runner.start("wait", { name: "left" });
    await runner[Symbol.asyncDispose]();
    expect(await cancelJob(store.jobs, left, "a test")).toMatchObject({ state: "cancelled", cancelRequested: true });
    await expect(cancelJob(store.jobs, left, "a test")).rejects.toMatchObject({ code: "conflict" });

    await using working = openRunner("four", new Promise(() => {}));
    const { id } = await working.start("wait", { name: "working" });
    expect(await working.cancel(id)).toMatchObject({ state: "running", cancelRequested: true });
    await expect.poll(() => stateOf(id)).toBe("cancelled");
    await expect(working.cancel("job_none" as never)).rejects.toMatchObject({ code: "not_found" });
  });
});
