import { expect, test } from "vitest";
import { SeededRandom } from "../seeded-random.ts";
import { FaultPlan } from "./fault-plan.ts";

const KINDS = ["kill", "pause", "disk-full", "slow", "lost-answer"];
const planOf = (seed: number, rounds: number): string[][] => {
  const plan = new FaultPlan(KINDS, ["slow", "lost-answer"], new SeededRandom(seed));
  return Array.from({ length: rounds }, (_, index) => plan.take(index + 1, 10));
};

test("each kind comes equally often, and a seed repeats the order", () => {
  const counts = Map.groupBy(planOf(4, 8).flat(), (kind) => kind);
  expect([...counts.values()].map(({ length }) => length)).toEqual(KINDS.map(() => 16));
  expect(planOf(4, 8)).toEqual(planOf(4, 8));
  expect(planOf(5, 8)).not.toEqual(planOf(4, 8));
});

test("every fourth round hits no process, so that no turn may fail in it", () => {
  const rounds = planOf(4, 8);
  const isStrict = rounds.map((kinds) => kinds.every((kind) => kind === "slow" || kind === "lost-answer"));
  expect(isStrict).toEqual([false, true, false, false, false, true, false, false]);
});
