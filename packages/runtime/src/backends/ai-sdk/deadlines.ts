import { LlmError } from "@tandem/protocol";

export interface Deadlines {
  firstByte: number;
  idle: number;
}

/**
 * Runs `work` until it is done, the caller's signal fires, or no sign of life came in time. `work` gets the signal that
 * covers all of this and calls `alive` for each sign of life. Rejects at once even where `work` does not heed its signal.
 */
export async function underDeadlines<T>(
  deadlines: Deadlines,
  callerSignal: AbortSignal,
  work: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  const stalled = new AbortController();
  const signal = AbortSignal.any([callerSignal, stalled.signal]);
  const expire = (name: keyof Deadlines) =>
    setTimeout(() => {
      const message = `No sign of life from the service for ${deadlines[name] / 1000} s (llm.limits.${name}).`;
      stalled.abort(new LlmError("timeout", message));
    }, deadlines[name]);
  let timer = expire("firstByte");
  const alive = () => {
    clearTimeout(timer);
    timer = expire("idle");
  };
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(signal.reason);
  try {
    signal.throwIfAborted();
    signal.addEventListener("abort", giveUp, { once: true });
    return await Promise.race([work(signal, alive), givenUp]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}
