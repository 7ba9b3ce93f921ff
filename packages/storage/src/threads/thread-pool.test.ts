import { once } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { ThreadPool } from "./thread-pool.ts";

const echo = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads";
  parentPort.on("message", (message) => parentPort.postMessage(message));
`)}`,
);

test("reuses a thread that was given back, but not a dead one", async () => {
  const threads = new ThreadPool(echo);
  const first = threads.take();
  onTestFinished(async () => void (await first.terminate()));
  first.postMessage("hello", []);
  await once(first, "message");
  threads.giveBack(first);
  expect(threads.take()).toBe(first);
  const second = threads.take();
  onTestFinished(async () => void (await second.terminate()));
  expect(second).not.toBe(first);
  threads.giveBack(second);
  await second.terminate();
  await first.terminate();
  threads.giveBack(first);
  const third = threads.take();
  onTestFinished(async () => void (await third.terminate()));
  expect([first, second]).not.toContain(third);
});

test("does not give a thread to the next taker while it ends after its idle time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const threads = new ThreadPool(echo);
  const first = threads.take();
  await once(first, "online");
  const ended = once(first, "exit");
  threads.giveBack(first);
  vi.advanceTimersByTime(60_000);
  const second = threads.take();
  expect(second).not.toBe(first);
  await Promise.all([ended, second.terminate()]);
});
