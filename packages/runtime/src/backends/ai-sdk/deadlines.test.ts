import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { underDeadlines } from "./deadlines.ts";

const DEADLINES = { firstByte: 300, idle: 300 };
const never = new AbortController().signal;

it("does not count time in which the process stands still", async () => {
  const answer = underDeadlines(DEADLINES, never, async (_signal, alive) => {
    alive();
    const until = performance.now() + 2 * DEADLINES.idle;
    while (performance.now() < until);
    await delay(1);
    return "answered";
  });
  expect(await answer).toBe("answered");
});

it("ends work without activity, even if it ignores its signal", async () => {
  const silent = underDeadlines(DEADLINES, never, () => new Promise(() => {}));
  await expect(silent).rejects.toMatchObject({ code: "timeout", message: expect.stringContaining("0.3 s") });
});
