import { LlmError } from "@tandem/protocol";
import { describe, expect, it } from "vitest";
import type { Clock } from "./clock.ts";
import { Governor } from "./governor.ts";
import type { Wait } from "./llm-runtime.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

/** Time passes only through `advance`, which also lets everything that it woke run until it waits again. */
function manualClock(random = 0.5) {
  let now = START;
  const sleepers: { at: number; wake: () => void }[] = [];
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const clock: Clock = {
    now: () => now,
    random: () => random,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        sleepers.push({ at: now + milliseconds, wake: resolve });
      }),
  };
  return {
    clock,
    settle,
    advance: async (milliseconds: number) => {
      await settle();
      const end = now + milliseconds;
      for (;;) {
        const next = sleepers.sort((a, b) => a.at - b.at)[0];
        if (!next || next.at > end) break;
        sleepers.shift();
        now = next.at;
        next.wake();
        await settle();
      }
      now = end;
      await settle();
    },
  };
}

function setUp(options: { concurrency?: number; attempts?: number; random?: number } = {}) {
  const time = manualClock(options.random);
  const governor = new Governor({ concurrency: options.concurrency ?? 4, attempts: options.attempts ?? 3 }, time.clock);
  const begin = (terms: { signal?: AbortSignal; patienceMs?: number } = {}) => {
    const waits: Wait[] = [];
    const call = governor.begin({
      signal: terms.signal ?? new AbortController().signal,
      patienceMs: terms.patienceMs ?? 300_000,
      onWait: (wait) => waits.push(wait),
    });
    return { call, waits };
  };
  return { ...time, governor, begin };
}

/** Fails with the given errors in order, then answers "done". Records when each try began. */
function failing(clock: Clock, ...errors: LlmError[]) {
  const times: number[] = [];
  const numbers: number[] = [];
  return {
    times,
    numbers,
    operation: async (attempt: number) => {
      times.push(clock.now() - START);
      numbers.push(attempt);
      const error = errors.shift();
      if (error) throw error;
      return "done";
    },
  };
}

/** Keeps a rejection from being called unhandled while time is advanced by hand. */
function outcomeOf<T>(promise: Promise<T>): Promise<T | { error: unknown }> {
  return promise.catch((error: unknown) => ({ error }));
}

const at = (milliseconds: number) => new Date(START + milliseconds);
const overloaded = (retryAfterMs?: number) => new LlmError("overloaded", "busy", { retryAfterMs });
const quota = (resetsInMs: number) => new LlmError("rate_limited", "quota", { resetsAt: at(resetsInMs) });

describe("retries", () => {
  it("tries again after a jittered pause that doubles", async () => {
    const { clock, advance, begin } = setUp({ random: 0.5 });
    const { operation, times, numbers } = failing(clock, overloaded(), new LlmError("server_error", "500"));
    const { call, waits } = begin();
    const result = call.attempt(operation);
    await advance(10_000);
    expect(await result).toBe("done");
    expect(times).toEqual([0, 500, 1_500]);
    expect(numbers).toEqual([1, 2, 3]);
    expect(call.retries).toBe(2);
    expect(waits).toEqual([
      { reason: "overloaded", until: at(500), attempt: 2 },
      { reason: "transient", until: at(1_500), attempt: 3 },
    ]);
  });

  it("gives up after the configured tries with the last error", async () => {
    const { clock, advance, begin } = setUp({ attempts: 3 });
    const last = new LlmError("network", "third");
    const { operation, times } = failing(clock, overloaded(), overloaded(), last);
    const result = outcomeOf(begin().call.attempt(operation));
    await advance(60_000);
    expect(await result).toEqual({ error: last });
    expect(times).toHaveLength(3);
  });

  it("never tries again what cannot succeed", async () => {
    const { clock, begin } = setUp();
    const { operation, times } = failing(clock, new LlmError("auth_rejected", "401"));
    await expect(begin().call.attempt(operation)).rejects.toMatchObject({ code: "auth_rejected" });
    expect(times).toHaveLength(1);
  });

  it("waits as long as the service asks, up to the cap", async () => {
    const { clock, advance, begin } = setUp();
    const { operation, times } = failing(clock, overloaded(20_000));
    const result = begin().call.attempt(operation);
    await advance(20_000);
    expect(await result).toBe("done");
    expect(times).toEqual([0, 20_000]);
  });

  it("fails at once where the service asks for more than the cap", async () => {
    const { clock, begin } = setUp();
    const { operation, times } = failing(clock, overloaded(600_000));
    await expect(begin().call.attempt(operation)).rejects.toMatchObject({ code: "overloaded" });
    expect(times).toHaveLength(1);
  });

  it("treats a rate limit without a reset as transient", async () => {
    const { clock, advance, begin } = setUp();
    const { operation, times } = failing(clock, new LlmError("rate_limited", "429", { retryAfterMs: 3_000 }));
    const { call, waits } = begin();
    const result = call.attempt(operation);
    await advance(3_000);
    expect(await result).toBe("done");
    expect(times).toEqual([0, 3_000]);
    expect(waits[0]?.reason).toBe("transient");
  });

  it("counts the tries of each model request anew, and all retries of a call together", async () => {
    const { clock, advance, begin } = setUp({ attempts: 2 });
    const { call } = begin();
    const first = call.attempt(failing(clock, overloaded()).operation);
    await advance(5_000);
    const second = call.attempt(failing(clock, overloaded()).operation);
    await advance(5_000);
    expect(await Promise.all([first, second])).toEqual(["done", "done"]);
    expect(call.retries).toBe(2);
  });
});

describe("quotas", () => {
  it("waits for a reset within patience and repeats the call that met it", async () => {
    const { clock, advance, begin } = setUp({ attempts: 1 });
    const { operation, times } = failing(clock, quota(120_000));
    const { call, waits } = begin({ patienceMs: 300_000 });
    const result = call.attempt(operation);
    await advance(121_000);
    expect(await result).toBe("done");
    expect(times).toEqual([0, 121_000]);
    expect(waits).toEqual([{ reason: "quota", until: at(121_000), attempt: 2 }]);
    expect(call.retries).toBe(1);
  });

  it("fails at once, with the time of the reset, where that is beyond patience", async () => {
    const { clock, begin } = setUp();
    const { operation, times } = failing(clock, quota(3 * 86_400_000));
    await expect(begin().call.attempt(operation)).rejects.toMatchObject({
      code: "rate_limited",
      resetsAt: at(3 * 86_400_000),
    });
    expect(times).toHaveLength(1);
  });

  it("spends patience over all waits of a call, so that it is never waited for longer in all", async () => {
    const { clock, advance, begin } = setUp();
    const { operation, times } = failing(clock, quota(200_000), quota(400_000));
    const result = outcomeOf(begin({ patienceMs: 300_000 }).call.attempt(operation));
    await advance(250_000);
    expect(await result).toMatchObject({ error: { code: "rate_limited" } });
    expect(times).toEqual([0, 201_000]);
  });

  it("holds back calls that come later until the reset", async () => {
    const { clock, advance, settle, begin } = setUp();
    const first = begin().call.attempt(failing(clock, quota(60_000)).operation);
    await settle();
    const later = failing(clock);
    const { call, waits } = begin();
    const second = call.attempt(later.operation);
    await advance(61_000);
    expect(await Promise.all([first, second])).toEqual(["done", "done"]);
    expect(later.times).toEqual([61_000]);
    expect(waits).toEqual([{ reason: "quota", until: at(61_000), attempt: 1 }]);
  });

  it("holds back calls that stood in line when the quota was met", async () => {
    const { clock, advance, begin } = setUp({ concurrency: 1 });
    const first = begin().call.attempt(failing(clock, quota(60_000)).operation);
    const later = failing(clock);
    const second = begin().call.attempt(later.operation);
    await advance(61_000);
    expect(await Promise.all([first, second])).toEqual(["done", "done"]);
    expect(later.times).toEqual([61_000]);
  });

  it("fails a call with less patience at once while another waits, without sending anything", async () => {
    const { clock, advance, settle, begin } = setUp();
    const patient = begin().call.attempt(failing(clock, quota(60_000)).operation);
    await settle();
    const hasty = failing(clock);
    await expect(begin({ patienceMs: 1_000 }).call.attempt(hasty.operation)).rejects.toMatchObject({
      code: "rate_limited",
      resetsAt: at(61_000),
    });
    expect(hasty.times).toEqual([]);
    await advance(61_000);
    expect(await patient).toBe("done");
  });

  it("does not hold back others for a reset that the call which met it would not wait for", async () => {
    const { clock, begin } = setUp();
    await expect(begin().call.attempt(failing(clock, quota(7_200_000)).operation)).rejects.toThrow("quota");
    expect(await begin().call.attempt(failing(clock).operation)).toBe("done");
  });

  it("takes a long retry-after of a rate limit for its reset", async () => {
    const { clock, advance, begin } = setUp();
    const { operation, times } = failing(clock, new LlmError("rate_limited", "429", { retryAfterMs: 90_000 }));
    const result = begin().call.attempt(operation);
    await advance(90_000);
    expect(await result).toBe("done");
    expect(times).toEqual([0, 90_000]);
  });

  it("treats a reset in the past as transient, so that a wrong clock cannot make it spin", async () => {
    const { clock, advance, begin } = setUp({ attempts: 3 });
    const { operation, times } = failing(clock, quota(-1), quota(-1), quota(-1), quota(-1));
    const result = outcomeOf(begin().call.attempt(operation));
    await advance(60_000);
    expect(await result).toMatchObject({ error: { code: "rate_limited" } });
    expect(times).toHaveLength(3);
  });
});

describe("concurrency", () => {
  /** Operations that end when told to. */
  function gates() {
    const started: string[] = [];
    const open = new Map<string, PromiseWithResolvers<string>>();
    return {
      started,
      operation: (name: string) => async () => {
        started.push(name);
        const gate = Promise.withResolvers<string>();
        open.set(name, gate);
        return gate.promise;
      },
      finish: (name: string) => open.get(name)?.resolve(name),
      fail: (name: string, error: LlmError) => open.get(name)?.reject(error),
    };
  }

  it("runs no more at once than configured, first come, first served, and says who waits", async () => {
    const { settle, begin } = setUp({ concurrency: 2 });
    const { started, operation, finish } = gates();
    const calls = ["a", "b", "c", "d"].map(() => begin());
    const results = calls.map(({ call }, index) => call.attempt(operation("abcd"[index]!)));
    await settle();
    expect(started).toEqual(["a", "b"]);
    expect(calls.map(({ waits }) => waits)).toEqual([
      [],
      [],
      [{ reason: "concurrency", attempt: 1 }],
      [{ reason: "concurrency", attempt: 1 }],
    ]);
    finish("b");
    await settle();
    expect(started).toEqual(["a", "b", "c"]);
    for (const name of ["a", "c"]) finish(name);
    await settle();
    finish("d");
    expect(await Promise.all(results)).toEqual(["a", "b", "c", "d"]);
  });

  it("halves once for a burst of refusals, and again for the next", async () => {
    const { governor, advance, settle, begin } = setUp({ concurrency: 8, attempts: 3 });
    const { operation, fail, finish, started } = gates();
    const names = ["a", "b", "c", "d"];
    const results = names.map((name) => begin().call.attempt(operation(name)));
    await settle();
    for (const name of names) fail(name, overloaded());
    await settle();
    expect(governor.concurrency).toBe(4);
    await advance(1_000);
    expect(started).toHaveLength(8);
    fail("a", overloaded());
    await settle();
    expect(governor.concurrency).toBe(2);
    for (const name of names.slice(1)) finish(name);
    await advance(2_000);
    finish("a");
    expect(await Promise.all(results)).toEqual(names);
  });

  it("never goes below one, and grows back step by step with successes", async () => {
    const { governor, clock, advance, begin } = setUp({ concurrency: 3, attempts: 5 });
    const result = begin().call.attempt(failing(clock, overloaded(), overloaded(), overloaded()).operation);
    await advance(30_000);
    await result;
    // One success at a limit of one has already earned a second slot.
    expect(governor.concurrency).toBe(2);
    await begin().call.attempt(failing(clock).operation);
    expect(governor.concurrency).toBe(2);
    await begin().call.attempt(failing(clock).operation);
    expect(governor.concurrency).toBe(3);
    for (let n = 0; n < 9; n += 1) await begin().call.attempt(failing(clock).operation);
    expect(governor.concurrency).toBe(3);
  });

  describe("aside", () => {
    it("leaves the slot to others, and has one again before the attempt goes on", async () => {
      const { settle, begin } = setUp({ concurrency: 1 });
      const { started, operation, finish } = gates();
      const tool = Promise.withResolvers<void>();
      const { call, waits } = begin();
      const outer = call.attempt(async () => {
        await call.aside(() => tool.promise);
        started.push("outer goes on");
      });
      const inner = begin().call.attempt(operation("inner"));
      await settle();
      expect(started).toEqual(["inner"]);
      tool.resolve();
      await settle();
      expect(started).toEqual(["inner"]);
      expect(waits).toEqual([{ reason: "concurrency", attempt: 1 }]);
      finish("inner");
      await Promise.all([outer, inner]);
      expect(started).toEqual(["inner", "outer goes on"]);
    });

    it("is over with the last of several at once, in whatever order they end", async () => {
      const { settle, begin } = setUp({ concurrency: 1 });
      const { started, operation, finish } = gates();
      const tools = [0, 1, 2].map(() => Promise.withResolvers<void>());
      const { call } = begin();
      const outer = call.attempt(async () => {
        const [first, second, third] = tools.map((tool) => () => call.aside(() => tool.promise));
        const early = [first!(), second!()];
        // While the first two wait for the slot that another call has, a third one starts and ends.
        tools[0]!.resolve();
        tools[1]!.resolve();
        await settle();
        await Promise.all([...early, third!()]);
        started.push("outer goes on");
      });
      const inner = begin().call.attempt(operation("inner"));
      await settle();
      await settle();
      tools[2]!.resolve();
      await settle();
      finish("inner");
      await Promise.all([outer, inner]);
      expect(started).toEqual(["inner", "outer goes on"]);
      expect(await begin().call.attempt(async () => "free")).toBe("free");
    });

    it("gives no slot back twice where the attempt ends before it", async () => {
      const { settle, begin } = setUp({ concurrency: 1 });
      const { started, operation, finish } = gates();
      const tool = Promise.withResolvers<void>();
      const { call } = begin();
      let late: Promise<void> | undefined;
      await call.attempt(async () => void (late = call.aside(() => tool.promise)));
      const others = ["a", "b"].map((name) => begin().call.attempt(operation(name)));
      tool.resolve();
      await late;
      await settle();
      expect(started).toEqual(["a"]);
      finish("a");
      await settle();
      finish("b");
      expect(await Promise.all(others)).toEqual(["a", "b"]);
    });

    it("does not outlast an abort", async () => {
      const { settle, begin } = setUp({ concurrency: 1 });
      const { operation, finish } = gates();
      const controller = new AbortController();
      const { call } = begin({ signal: controller.signal });
      const outer = outcomeOf(
        call.attempt(async () => {
          await call.aside(async () => undefined);
          controller.signal.throwIfAborted();
        }),
      );
      const inner = begin().call.attempt(operation("inner"));
      await settle();
      controller.abort();
      expect(await outer).toMatchObject({ error: { code: "aborted" } });
      finish("inner");
      expect(await inner).toBe("inner");
      expect(await begin().call.attempt(async () => "free")).toBe("free");
    });

    it("is nothing special outside of an attempt", async () => {
      expect(
        await setUp()
          .begin()
          .call.aside(async () => "done"),
      ).toBe("done");
    });
  });

  it("frees the slot while a call waits to be tried again", async () => {
    const { clock, advance, begin } = setUp({ concurrency: 1 });
    const waiting = begin().call.attempt(failing(clock, overloaded(30_000)).operation);
    const other = failing(clock);
    const second = begin().call.attempt(other.operation);
    await advance(1_000);
    expect(await second).toBe("done");
    expect(other.times).toEqual([0]);
    await advance(30_000);
    expect(await waiting).toBe("done");
  });
});

it("adds up what a call waited for: another try, a quota, a slot", async () => {
  const { clock, advance, begin } = setUp({ concurrency: 1, random: 0.5 });
  const first = begin().call;
  const done = first.attempt(failing(clock, overloaded(), quota(60_000)).operation);
  await advance(61_000);
  expect(await done).toBe("done");
  expect(first.waitedMs).toBe(61_000);

  const running = Promise.withResolvers<void>();
  const busy = begin().call.attempt(() => running.promise);
  const second = begin().call;
  const late = second.attempt(async () => "late");
  await advance(700);
  running.resolve();
  await Promise.all([busy, late]);
  expect(second.waitedMs).toBe(700);
});

describe("abort", () => {
  it("leaves the line at once, and the slot goes to the next", async () => {
    const { settle, begin } = setUp({ concurrency: 1 });
    const running = Promise.withResolvers<string>();
    const first = begin().call.attempt(() => running.promise);
    const controller = new AbortController();
    const second = outcomeOf(begin({ signal: controller.signal }).call.attempt(async () => "never"));
    const third = begin().call.attempt(async () => "third");
    await settle();
    controller.abort();
    expect(await second).toMatchObject({ error: { code: "aborted" } });
    running.resolve("first");
    expect(await first).toBe("first");
    expect(await third).toBe("third");
  });

  it("ends a wait for a quota", async () => {
    const { clock, settle, begin } = setUp();
    const controller = new AbortController();
    const { operation, times } = failing(clock, quota(60_000));
    const result = outcomeOf(begin({ signal: controller.signal }).call.attempt(operation));
    await settle();
    controller.abort();
    expect(await result).toMatchObject({ error: { code: "aborted" } });
    expect(times).toHaveLength(1);
  });

  it("sends nothing for a call that was aborted before it began", async () => {
    const { clock, begin } = setUp();
    const { operation, times } = failing(clock);
    await expect(begin({ signal: AbortSignal.abort() }).call.attempt(operation)).rejects.toMatchObject({
      code: "aborted",
    });
    expect(times).toEqual([]);
  });
});
