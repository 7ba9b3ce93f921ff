import { expect, test } from "vitest";
import { inParallel } from "./in-parallel.ts";

test("limits concurrency and keeps the order of the items", async () => {
  const running = new Set<number>();
  let most = 0;
  const results = await inParallel([5, 1, 4, 2, 3], 2, async (item, index) => {
    running.add(item);
    most = Math.max(most, running.size);
    for (let turn = 0; turn < item; turn++) await Promise.resolve();
    running.delete(item);
    return [item, index];
  });
  expect(results).toEqual([5, 1, 4, 2, 3].map((item, index) => [item, index]));
  expect(most).toBe(2);
});

test("starts nothing after a failure, and rejects when the running calls have ended", async () => {
  const slow = Promise.withResolvers<void>();
  const started: string[] = [];
  const done = inParallel(["slow", "fails", "never"], 2, async (item) => {
    started.push(item);
    if (item === "fails") throw new Error("failed");
    await slow.promise;
    started.push("slow has ended");
  });
  const outcome = expect(done).rejects.toThrow("failed");
  slow.resolve();
  await outcome;
  expect(started).toEqual(["slow", "fails", "slow has ended"]);
});
