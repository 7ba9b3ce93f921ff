import { expect, test } from "vitest";
import { nextRuns } from "./testing/next-runs.ts";

const run = (name: string, more: object = {}) => ({
  kind: "session" as const,
  name,
  tenant: name[0]!,
  priority: 0,
  since: Number(name.slice(1)),
  busy: 0,
  served: 0,
  ...more,
});
const names = (runs: { name: string }[]): string[] => runs.map(({ name }) => name);

test("chooses several runs like one after the other", () => {
  const waiting = [run("a1"), run("a2"), run("a3"), run("b4"), run("b5"), run("c6", { busy: 1 })];
  expect(names(nextRuns(waiting, 10))).toEqual(["a1", "b4", "c6", "a2", "b5", "a3"]);
  expect(names(nextRuns(waiting, 2))).toEqual(["a1", "b4"]);
  expect(waiting.map(({ busy }) => busy)).toEqual([0, 0, 0, 0, 0, 1]);
});

test("respects limits first, then priority, then fairness", () => {
  const waiting = [run("a1"), run("b2", { priority: 1, busy: 3 }), run("b3", { busy: 3 }), run("c4", { priority: 9 })];
  expect(names(nextRuns(waiting, 10))).toEqual(["c4", "b2", "a1", "b3"]);
  const limits: Record<string, number> = { b: 4, c: 0 };
  expect(names(nextRuns(waiting, 10, (tenant) => limits[tenant] ?? Infinity))).toEqual(["b2", "a1"]);
});

test("jobs neither count towards the limit of a tenant nor wait for it", () => {
  const waiting = [run("a1", { kind: "job" }), run("a2"), run("a3", { kind: "job" }), run("a4")];
  expect(names(nextRuns(waiting, 10, () => 1))).toEqual(["a1", "a2", "a3"]);
});
