import type { Clock } from "@tandem/protocol";
import { expect, test } from "vitest";
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

test("a first answer that took seconds corrects the clock, and a faster one corrects it again", async () => {
  const { time, clock, readTime } = machine(MINUTE);
  // All of the time was spent on the way back.
  await clock.follow(async () => {
    const read = await readTime(0);
    await readTime(5_000);
    return read;
  });
  expect(clock.now()).toBe(time.true - 2_500);
  await clock.follow(() => readTime(100));
  expect(clock.now()).toBe(time.true);
});

test("a slow answer does not replace a good offset: it corrects only what is certain", async () => {
  const { time, clock, readTime } = machine(MINUTE);
  await clock.follow(() => readTime(10));
  // The database's clock was set forward by a quarter of a minute.
  await clock.follow(async () => (await readTime(20_000)) + 15_000);
  expect(clock.now() - time.true).toBeGreaterThan(4_900);
  expect(clock.now() - time.true).toBeLessThan(5_000);
  await clock.follow(async () => (await readTime(40_000)) + 15_000);
  expect(clock.now() - time.true).toBeLessThan(5_000);
  await clock.follow(async () => (await readTime(10)) + 15_000);
  expect(clock.now()).toBe(time.true + 15_000);
});

test("an answer that differs by less than the round trip changes nothing", async () => {
  const { time, clock, readTime } = machine(MINUTE);
  await clock.follow(() => readTime(0));
  await clock.follow(async () => (await readTime(400)) + 150);
  expect(clock.now()).toBe(time.true);
  await expect(clock.follow(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(clock.now()).toBe(time.true);
});
