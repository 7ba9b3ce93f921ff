import { setTimeout as delay } from "node:timers/promises";
import { inject } from "vitest";

/** Polls until `ask` returns a value. */
export async function until<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  deadlineMs = 120_000 * inject("slowness"),
): Promise<T> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error("The state did not come.");
    await delay(20);
  }
}
