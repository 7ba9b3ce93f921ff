import { LlmError } from "@tandem/protocol";
import type { GovernorClock } from "../governor-clock.ts";
import { Governor, type SharedQuotas } from "../governor.ts";
import type { Wait } from "../llm-runtime.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

/** Time passes only through `advance`, which also lets woken tasks run until they wait again. */
function manualClock(random = 0.5) {
  let now = START;
  const sleepers: { at: number; wake: () => void }[] = [];
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const clock: GovernorClock = {
    now: () => now,
    random: () => random,
    after: (milliseconds, wake) => {
      const sleeper = { at: now + milliseconds, wake };
      sleepers.push(sleeper);
      return () => void sleepers.splice(sleepers.indexOf(sleeper), sleepers.includes(sleeper) ? 1 : 0);
    },
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

export function setUp(
  options: { concurrency?: number; attempts?: number; random?: number; shared?: SharedQuotas } = {},
) {
  const time = manualClock(options.random);
  const limits = { concurrency: options.concurrency ?? 4, attempts: options.attempts ?? 3 };
  const governor = new Governor(limits, time.clock, options.shared);
  const begin = (terms: { model?: string; signal?: AbortSignal; patienceMs?: number } = {}) => {
    const waits: Wait[] = [];
    const call = governor.begin({
      model: terms.model ?? "sonnet",
      signal: terms.signal ?? new AbortController().signal,
      patienceMs: terms.patienceMs ?? 300_000,
      onWait: (wait) => waits.push(wait),
    });
    return { call, waits };
  };
  return { ...time, governor, begin };
}

/** Fails with the given errors in order, then returns "done". Records the start time of each attempt. */
export function failing(clock: GovernorClock, ...errors: LlmError[]) {
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

/** Handles the rejection, so that it is not reported as unhandled while time is advanced. */
export function outcomeOf<T>(promise: Promise<T>): Promise<T | { error: unknown }> {
  return promise.catch((error: unknown) => ({ error }));
}

export const at = (milliseconds: number) => new Date(START + milliseconds);
export const overloaded = (retryAfterMs?: number) => new LlmError("overloaded", "busy", { retryAfterMs });
export const quota = (resetsInMs: number) => new LlmError("rate_limited", "quota", { resetsAt: at(resetsInMs) });

/** Operations that end on command. */
export function gates() {
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
