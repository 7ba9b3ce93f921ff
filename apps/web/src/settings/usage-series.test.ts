import { expect, test } from "vitest";
import { usageSeries } from "./usage-series.ts";

const now = new Date("2026-05-03T12:00:00Z");

test("has a value for each day and group, the most expensive group first", () => {
  const rows = [
    { day: "2026-05-01", name: "a", usd: 1 },
    { day: "2026-05-03", name: "b", usd: 3 },
    { day: "2026-05-03", name: "a", usd: 1 },
    { day: "2026-05-03", name: "free", usd: 0 },
  ];
  const { series, labels, total } = usageSeries(rows, now, 3);
  expect(labels).toHaveLength(3);
  expect(total).toBe(5);
  expect(series).toEqual([
    { name: "b", values: [0, 0, 3] },
    { name: "a", values: [1, 0, 1] },
  ]);
});

test("sums up small groups", () => {
  const rows = Array.from({ length: 8 }, (_, index) => ({ day: "2026-05-03", name: `m${index}`, usd: 10 - index }));
  const { series } = usageSeries(rows, now, 1);
  expect(series.map(({ name }) => name)).toEqual(["m0", "m1", "m2", "m3", "m4", "Other"]);
  expect(series.at(-1)!.values).toEqual([5 + 4 + 3]);
});
