import { expect, test } from "vitest";
import type { Clock } from "./clock.ts";
import { SharedClock } from "./shared-clock.ts";

const MINUTE = 60_000;

/** A machine whose clock is wrong by `skew`. `time.true` is the true time. */
function machine(skew: number) {
  const time = { true: 1_000_000, skew };
  const base: Clock = {
    now: () => time.true + time.skew,
    monotonic: () => time.true - 900_000,
    after: () => () => undefined,
    every: () => () => undefined,
  };
  const readTime = async (tookMs: number): Promise<number> => {
    time.true += tookMs / 2;
    const read = time.true;
    time.true += tookMs / 2;
    return read;
  };
  return { time, clock: new SharedClock(base), readTime };
}

test("a machine whose clock is a minute off has the database's time, also after its clock was set", async () => {
  for (const skew of [MINUTE, -MINUTE]) {
    const { time, clock, readTime } = machine(skew);
    expect(clock.now()).toBe(time.true + skew);
    await clock.follow(() => readTime(100));
    expect(clock.now()).toBe(time.true);
    time.skew = 60 * MINUTE;
    time.true += 500;
    expect(clock.now()).toBe(time.true);
  }
});

test("an answer that took seconds, or differs by less than the round trip, changes nothing", async () => {
  const { time, clock, readTime } = machine(MINUTE);
  await clock.follow(() => readTime(5_000));
  expect(clock.now()).toBe(time.true + MINUTE);
  await clock.follow(() => readTime(0));
  await clock.follow(async () => (await readTime(400)) + 150);
  expect(clock.now()).toBe(time.true);
  await expect(clock.follow(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(clock.now()).toBe(time.true);
});
