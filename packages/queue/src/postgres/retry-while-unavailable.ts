import { setTimeout as delay } from "node:timers/promises";
import { RequestError, TandemError } from "@tandem/protocol";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** The server or connection failed, not the statement: a retry may succeed. */
const isPassing = (error: unknown): error is RequestError =>
  error instanceof RequestError && error.code === "unavailable";

/** Retries while Postgres is unavailable, until `deadlineMs` or the signal. */
export async function retryWhileUnavailable<T>(
  attempt: () => Promise<T>,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (signal?.aborted || performance.now() + pause > deadline) {
        throw new TandemError("queue_unavailable", `The queue's Postgres does not answer. ${error.message}`, {
          fix: "See that Postgres runs and that storage.url names it; then try again.",
          cause: error,
        });
      }
      // Closing the queue ends the pause.
      await delay(pause, undefined, { signal, ref: true }).catch(() => {});
    }
  }
}
