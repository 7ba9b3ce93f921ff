import { LlmError } from "@tandem/protocol";

export interface Deadlines {
  firstByte: number;
  idle: number;
}

/** A deadline is counted in so many parts, so that time in which this process stands still counts as one part at most. */
const PARTS = 10;

/**
 * Runs `work` until it settles, the caller aborts, or there was no activity in time. `work` gets a combined signal and
 * calls `alive` for each activity. Rejects at once even if `work` ignores its signal.
 */
export async function underDeadlines<T>(
  deadlines: Deadlines,
  callerSignal: AbortSignal,
  work: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  const stalled = new AbortController();
  const signal = AbortSignal.any([callerSignal, stalled.signal]);
  const expire = (name: keyof Deadlines) => {
    let left = PARTS;
    return setInterval(() => {
      left -= 1;
      if (left > 0) return;
      const message = `No sign of life from the service for ${deadlines[name] / 1000} s (llm.limits.${name}).`;
      stalled.abort(new LlmError("timeout", message));
    }, deadlines[name] / PARTS);
  };
  let timer = expire("firstByte");
  const alive = () => {
    clearInterval(timer);
    timer = expire("idle");
  };
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(signal.reason);
  try {
    signal.throwIfAborted();
    signal.addEventListener("abort", giveUp, { once: true });
    return await Promise.race([work(signal, alive), givenUp]);
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", giveUp);
  }
}
