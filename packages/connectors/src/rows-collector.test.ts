import { expect, it } from "vitest";
import { RowsCollector } from "./rows-collector.ts";

it("stops at the row limit", () => {
  const collector = new RowsCollector(["a"], { maxRows: 2, maxBytes: 1_000 });
  expect([[1], [2], [3]].map((row) => collector.add(row))).toEqual([true, true, false]);
  expect(collector.result()).toEqual({ columns: ["a"], rows: [[1], [2]], truncated: true });
});

it("stops at the byte limit", () => {
  const collector = new RowsCollector(["a"], { maxRows: 100, maxBytes: 500 });
  const row = ["x".repeat(200)];
  expect([collector.add(row), collector.add(row), collector.add(row)]).toEqual([true, true, false]);
  expect(collector.result().truncated).toBe(true);
});

it("truncates a long value between characters and marks it", () => {
  const collector = new RowsCollector(["a", "b"], { maxRows: 100, maxBytes: 8_001 });
  expect(collector.add(["🙂".repeat(1_000), 1])).toBe(true);
  expect(collector.add(["short", 2])).toBe(true);
  const { rows, truncated } = collector.result();
  expect(rows).toEqual([
    [`${"🙂".repeat(250)}…`, 1],
    ["short", 2],
  ]);
  expect(truncated).toBe(true);
});

it("returns a truncated first row if it is too wide", () => {
  const collector = new RowsCollector([], { maxRows: 100, maxBytes: 2_000 });
  expect(collector.add(Array.from({ length: 100 }, () => "x".repeat(1_000)))).toBe(false);
  const { rows, truncated } = collector.result();
  expect(rows[0]).toHaveLength(100);
  expect(JSON.stringify(rows).length).toBeLessThan(4_000);
  expect(truncated).toBe(true);
});
