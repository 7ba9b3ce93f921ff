import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ClaudeProcess, ProcessFixture } from "./claude-process.ts";
import { ProcessPool, type Lease, type PoolSettings } from "./process-pool.ts";

/** Stands in for a process: the pool only counts, resets, parks and ends processes. */
class StandIn {
  readonly startedAt = Date.now();
  turns = 0;
  residentMb = 100;
  dead = false;
  ready = async (): Promise<void> => undefined;
  reset = async (): Promise<void> => undefined;
  park = (): void => undefined;
  kill = async (): Promise<void> => {
    this.dead = true;
  };
}

let started: StandIn[];
const running = (): StandIn[] => started.filter(({ dead }) => !dead);

function openPool(settings: Partial<PoolSettings> = {}): ProcessPool {
  const limits = { mode: "reuse" as const, size: 1, maxCalls: 50, maxAge: 600_000, maxMemoryMb: 300, idle: 60_000 };
  return new ProcessPool({ ...limits, ...settings }, () => {
    const process = new StandIn();
    started.push(process);
    return process as unknown as ClaudeProcess;
  });
}

const take = (pool: ProcessPool): Promise<Lease> =>
  pool.take({ system: undefined } as ProcessFixture, { model: "sonnet", tools: [] }, new AbortController().signal);

/** One call, up to the moment when its process is free again or gone. */
async function call(pool: ProcessPool): Promise<ClaudeProcess> {
  const { process, release } = await take(pool);
  process.turns += 1;
  release();
  await vi.advanceTimersByTimeAsync(0);
  return process;
}

beforeEach(() => {
  vi.useFakeTimers();
  started = [];
});
afterEach(() => void vi.useRealTimers());

test.each([
  ["calls", { maxCalls: 2 }],
  ["age", { maxAge: 1_000 }],
  ["memory", { maxMemoryMb: 200 }],
])("a process is replaced when it reaches its limit of %s", async (limit, settings) => {
  const pool = openPool(settings);
  await call(pool);
  expect(running(), "below the limit it is kept").toEqual([started[0]]);
  if (limit === "age") await vi.advanceTimersByTimeAsync(1_000);
  if (limit === "memory") started[0]!.residentMb = 200;
  await call(pool);
  expect(await call(pool)).not.toBe(started[0]);
  expect(started[0]!.dead).toBe(true);
  expect(running()).toHaveLength(1);
});

test("the number of processes is bounded by running calls, then by the pool size, and shrinks when idle", async () => {
  const pool = openPool({ size: 2, idle: 1_500 });
  const leases = await Promise.all([take(pool), take(pool), take(pool)]);
  expect(running()).toHaveLength(3);
  for (const { release } of leases) release();
  await vi.advanceTimersByTimeAsync(0);
  expect(running()).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(running()).toEqual([]);
  await call(pool);
  expect(running()).toHaveLength(1);
});

test("single-use: no process serves twice, and a spare stands by", async () => {
  const pool = openPool({ mode: "single-use" });
  const served = [await call(pool), await call(pool), await call(pool)];
  expect(new Set(served).size).toBe(3);
  expect(served.every(({ dead }) => dead)).toBe(true);
  expect(running()).toEqual([started[3]]);
});

test("off: no process remains after a call", async () => {
  const pool = openPool({ mode: "off" });
  await call(pool);
  expect(started).toHaveLength(1);
  expect(running()).toEqual([]);
});

test("a process that cannot be reset is not reused", async () => {
  const pool = openPool();
  const { process, release } = await take(pool);
  started[0]!.reset = async () => Promise.reject(new Error("not confirmed"));
  release();
  expect((await take(pool)).process).not.toBe(process);
  expect(started[0]!.dead).toBe(true);
});

test("a closed pool starts no process, even for a waiting call", async () => {
  const pool = openPool();
  const { release } = await take(pool);
  // The reset does not end, so the next call waits for it.
  started[0]!.reset = () => new Promise(() => undefined);
  release();
  const waiting = expect(take(pool)).rejects.toMatchObject({ code: "aborted" });
  await pool.close();
  await waiting;
  await expect(take(pool)).rejects.toMatchObject({ code: "aborted" });
  expect(started).toHaveLength(1);
  expect(running()).toEqual([]);
});
