import type { MetricAnswer } from "@tandem/protocol";
import { expect, test } from "vitest";
import { answerChartData } from "./answer-chart-data.ts";
import { periodLabel } from "./period.ts";

const dimension = (name: string) => ({ name, kind: "dimension", type: "text" }) as const;
const metric = (name: string, label?: string) =>
  ({ name, kind: "metric", type: "number", ...(label && { label }) }) as const;
const chart = (columns: MetricAnswer["columns"], rows: MetricAnswer["rows"]) => {
  const data = answerChartData({ columns, rows });
  if (data.kind === "none" || data.kind === "figures") throw new Error(data.kind);
  return data;
};

test("a time is a line in order, and a period without rows or without a value is a gap", () => {
  const data = chart(
    [dimension("time.month"), metric("revenue", "Revenue"), metric("paid")],
    [
      ["2026-04-01", "3.5", null],
      ["2026-01-01", 10, 4],
      ["2026-02-01", 20, 5],
      [null, 9, 9],
    ],
  );
  expect(data.kind).toBe("line");
  expect(data.labels).toEqual(
    ["2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01"].map((day) => periodLabel(day, "month")),
  );
  expect(data.charts.map(({ series }) => series)).toEqual([
    [{ name: "Revenue", values: [10, 20, null, 3.5] }],
    [{ name: "paid", values: [4, 5, null, null] }],
  ]);
  expect(data.notes).toEqual(["Rows without a time are only in the table."]);
});

test("weeks, quarters and years have their own steps and labels", () => {
  const labels = (unit: string, first: string, last: string) =>
    chart(
      [dimension(`placed.${unit}`), metric("n")],
      [
        [first, 1],
        [last, 2],
      ],
    ).labels;
  expect(labels("week", "2025-12-22", "2026-01-05")).toHaveLength(3);
  expect(labels("quarter", "2025-10-01", "2026-04-01")).toEqual(["Q4 2025", "Q1 2026", "Q2 2026"]);
  expect(labels("year", "2024-01-01", "2026-01-01")).toEqual(["2024", "2025", "2026"]);
});

test("categories are bars in the order of the rows; a second field gives the largest series", () => {
  const rows = ["a", "b", "c", "d", "e", "f", "g"].flatMap((name, at) => [
    ["web", name, at],
    ["shop", name, null],
  ]);
  const data = chart([dimension("order.channel"), dimension("product.name"), metric("n")], rows);
  expect(data.kind).toBe("bars");
  expect(data.labels).toEqual(["web", "shop"]);
  expect(data.charts[0]!.series.map(({ name }) => name)).toEqual(["g", "f", "e", "d", "c", "b"]);
  expect(data.charts[0]!.series[0]!.values).toEqual([6, null]);
  expect(data.notes).toEqual(["The 6 largest of 7 values of product.name are shown."]);
});

test("without groups the figures are shown, and three fields are for the table", () => {
  expect(answerChartData({ columns: [metric("n")], rows: [[1]] })).toEqual({ kind: "figures" });
  const columns = [dimension("a"), dimension("b"), dimension("c"), metric("n")];
  expect(answerChartData({ columns, rows: [["x", "y", "z", 1]] }).kind).toBe("none");
});
