import { LlmError } from "@tandem/protocol";
import { describe, expect, it } from "vitest";
import { at, failing, outcomeOf, overloaded, quota, setUp } from "./testing/governed.ts";

describe("retries", () => {
  it("retries after a jittered, doubling backoff", async () => {
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

  it("gives up after the configured attempts with the last error", async () => {
    const { clock, advance, begin } = setUp({ attempts: 3 });
    const last = new LlmError("network", "third");
    const { operation, times } = failing(clock, overloaded(), overloaded(), last);
    const result = outcomeOf(begin().call.attempt(operation));
    await advance(60_000);
    expect(await result).toEqual({ error: last });
    expect(times).toHaveLength(3);
  });

  it("never retries a permanent error", async () => {
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

  it("fails at once if the service asks for more than the cap", async () => {
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

  it("counts attempts per model request, and retries per call", async () => {
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
  it("waits for a reset within patience and repeats the call", async () => {
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

  it("fails at once with the reset time if it is beyond patience", async () => {
    const { clock, begin } = setUp();
    const { operation, times } = failing(clock, quota(3 * 86_400_000));
    await expect(begin().call.attempt(operation)).rejects.toMatchObject({
      code: "rate_limited",
      resetsAt: at(3 * 86_400_000),
    });
    expect(times).toHaveLength(1);
  });

  it("limits the total wait of a call to its patience", async () => {
    const { clock, advance, begin } = setUp();
    const { operation, times } = failing(clock, quota(200_000), quota(400_000));
    const result = outcomeOf(begin({ patienceMs: 300_000 }).call.attempt(operation));
    await advance(250_000);
    expect(await result).toMatchObject({ error: { code: "rate_limited" } });
    expect(times).toEqual([0, 201_000]);
  });

  it("holds back later calls until the reset", async () => {
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

  it("lets calls of other models through while one model's quota is used up", async () => {
    const { clock, advance, settle, begin } = setUp();
    const first = begin({ model: "opus" }).call.attempt(failing(clock, quota(60_000)).operation);
    await settle();
    const { operation, times } = failing(clock);
    expect(await begin({ model: "haiku" }).call.attempt(operation)).toBe("done");
    expect(times).toEqual([0]);
    await advance(61_000);
    expect(await first).toBe("done");
  });

  it("holds back queued calls when the quota is hit", async () => {
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

  it("does not hold back others for a reset that the call itself would not wait for", async () => {
    const { clock, begin } = setUp();
    await expect(begin().call.attempt(failing(clock, quota(7_200_000)).operation)).rejects.toThrow("quota");
    expect(await begin().call.attempt(failing(clock).operation)).toBe("done");
  });

  it("treats a long retry-after of a rate limit as its reset", async () => {
    const { clock, advance, begin } = setUp();
    const { operation, times } = failing(clock, new LlmError("rate_limited", "429", { retryAfterMs: 90_000 }));
    const result = begin().call.attempt(operation);
    await advance(90_000);
    expect(await result).toBe("done");
    expect(times).toEqual([0, 90_000]);
  });

  it("treats a reset in the past as transient, so that clock skew cannot cause a busy loop", async () => {
    const { clock, advance, begin } = setUp({ attempts: 3 });
    const { operation, times } = failing(clock, quota(-1), quota(-1), quota(-1), quota(-1));
    const result = outcomeOf(begin().call.attempt(operation));
    await advance(60_000);
    expect(await result).toMatchObject({ error: { code: "rate_limited" } });
    expect(times).toHaveLength(3);
  });
});

it("adds up waits for retries, quotas and slots", async () => {
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
  it("leaves the queue at once and passes its slot on", async () => {
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

  it("sends nothing for a call aborted before its start", async () => {
    const { clock, begin } = setUp();
    const { operation, times } = failing(clock);
    await expect(begin({ signal: AbortSignal.abort() }).call.attempt(operation)).rejects.toMatchObject({
      code: "aborted",
    });
    expect(times).toEqual([]);
  });
});

describe("quotas shared with other processes", () => {
  it("sends nothing until the shared reset, then checks again", async () => {
    const known = [at(60_000), at(90_000)];
    const asked: string[] = [];
    const shared = {
      until: async (model: string) => {
        asked.push(model);
        return known.shift();
      },
      learned: async () => undefined,
    };
    const { clock, advance, begin } = setUp({ shared });
    const { operation, times } = failing(clock);
    const { call, waits } = begin();
    const result = call.attempt(operation);
    await advance(200_000);
    expect(await result).toBe("done");
    expect(times).toEqual([91_000]);
    expect(waits.map(({ reason }) => reason)).toEqual(["quota", "quota"]);
    expect(asked).toEqual(["sonnet", "sonnet", "sonnet"]);
  });

  it("fails at once if the shared reset is beyond patience", async () => {
    const { clock, begin } = setUp({ shared: { until: async () => at(600_000), learned: async () => undefined } });
    const { operation, times } = failing(clock);
    await expect(begin({ patienceMs: 1_000 }).call.attempt(operation)).rejects.toMatchObject({ code: "rate_limited" });
    expect(times).toEqual([]);
  });

  it("publishes what it learns, and works without the shared store", async () => {
    const told: [string, Date][] = [];
    const shared = {
      until: async () => Promise.reject(new Error("away")),
      learned: async (model: string, resetsAt: Date) => {
        told.push([model, resetsAt]);
        throw new Error("away");
      },
    };
    const { clock, advance, begin } = setUp({ shared });
    const result = begin().call.attempt(failing(clock, quota(60_000)).operation);
    await advance(120_000);
    expect(await result).toBe("done");
    expect(told).toEqual([["sonnet", at(60_000)]]);
  });
});
