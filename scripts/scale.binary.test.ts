import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BUSIEST_HOUR, rateAt } from "../bench/scale/day.ts";
import { EventHeap } from "../bench/scale/event-heap.ts";
import { FIGURES, HABITS, LIMITS } from "../bench/scale/figures.ts";
import { needsOf } from "../bench/scale/needs.ts";
import { meanOf, Random } from "../bench/scale/random.ts";
import { scaleTable } from "../bench/scale/scale.ts";
import { simulateTurns } from "../bench/scale/simulate-turns.ts";

test("a day has all its sessions, and its peak at the configured hour", () => {
  const seconds = Array.from({ length: 86_400 }, (_, second) => rateAt(second, 100_000));
  expect(seconds.reduce((sum, rate) => sum + rate, 0)).toBeCloseTo(100_000, -2);
  const hours = Array.from({ length: 24 }, (_, hour) => seconds.slice(hour * 3_600, (hour + 1) * 3_600));
  const totals = hours.map((hour) => hour.reduce((sum, rate) => sum + rate, 0));
  expect(totals.indexOf(Math.max(...totals))).toBe(BUSIEST_HOUR);
});

test("events are emitted in order", () => {
  const random = new Random(7);
  const heap = new EventHeap<number>();
  for (let number = 0; number < 1_000; number += 1) heap.push(random.next(), number);
  const times = Array.from({ length: 1_000 }, () => heap.pop()!.at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(heap.pop()).toBeUndefined();
});

test("a log-normal has the requested median, 95th percentile and mean", () => {
  const random = new Random(3);
  const shape = { median: 25, p95: 180 };
  const values = Array.from({ length: 100_000 }, () => random.logNormal(shape)).toSorted((a, b) => a - b);
  expect(values[50_000]!).toBeCloseTo(25, -1);
  expect(values[95_000]! / 180).toBeCloseTo(1, 1);
  expect(values.reduce((sum, value) => sum + value, 0) / values.length / meanOf(shape)).toBeCloseTo(1, 1);
});

const load = { sessionsPerDay: 50_000, turnsPerSession: 1, thinkSeconds: 0, turnSeconds: { median: 20, p95: 40 } };

test("with enough slots, concurrency follows Little's law and no turn waits", () => {
  const flow = simulateTurns(load, 100_000, { hour: BUSIEST_HOUR });
  const arrivals = Array.from({ length: 3_600 }, (_, second) => rateAt(BUSIEST_HOUR * 3_600 + second, 50_000));
  const perHour = arrivals.reduce((sum, rate) => sum + rate, 0);
  expect(flow.turns / perHour).toBeCloseTo(1, 1);
  expect(flow.running.mean / ((perHour / 3_600) * meanOf(load.turnSeconds))).toBeCloseTo(1, 1);
  expect(flow.wait.most).toBe(0);
});

test("with fewer slots than turns, waits grow and slots are never idle", () => {
  const needed = simulateTurns(load, 100_000, { hour: BUSIEST_HOUR }).running.mean;
  const tight = simulateTurns(load, Math.floor(needed * 0.8), { hour: BUSIEST_HOUR });
  expect(tight.busy).toBeGreaterThan(0.99);
  expect(tight.wait.p95).toBeGreaterThan(60);
  expect(tight.running.most).toBeLessThanOrEqual(Math.floor(needed * 0.8));
  const roomy = simulateTurns(load, Math.ceil(needed * 2), { hour: BUSIEST_HOUR });
  expect(roomy.wait.p99).toBeLessThan(tight.wait.p50);
});

test("the same seed gives the same result, another seed about the same", () => {
  const one = simulateTurns(load, 500, { hour: 3, seed: 5 });
  expect(simulateTurns(load, 500, { hour: 3, seed: 5 })).toEqual(one);
  expect(simulateTurns(load, 500, { hour: 3, seed: 6 }).turns / one.turns).toBeCloseTo(1, 0);
});

test("ten times as many sessions need about ten times as much, and never less", () => {
  const small = needsOf(10_000, FIGURES, HABITS, LIMITS);
  const large = needsOf(100_000, FIGURES, HABITS, LIMITS);
  expect(large.storedGbPerDay).toBeCloseTo(small.storedGbPerDay * 10);
  expect(large.places / small.places).toBeGreaterThan(7);
  expect(large.places / small.places).toBeLessThanOrEqual(10.5);
  expect(small.flow.wait.p99).toBeLessThanOrEqual(1);
  expect(large.flow.wait.p99).toBeLessThanOrEqual(1);
});

test("docs/scale.md matches the simulation", () => {
  const page = readFileSync(join(import.meta.dirname, "..", "docs", "scale.md"), "utf8");
  expect(page).toContain(scaleTable());
});
