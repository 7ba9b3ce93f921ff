import { expect, test } from "vitest";
import { chartData, firstChoice } from "./chart-data.ts";

const sales = {
  columns: ["day", "shop", "total"],
  rows: [
    ["2026-01-01", "Bern", "10.50"],
    ["2026-01-02", "Thun", null],
  ],
};

test("the first chart shows numbers over days or names", () => {
  expect(firstChoice(sales)).toEqual({ kind: "line", x: 0, y: 2 });
  expect(
    firstChoice({
      columns: ["shop", "n"],
      rows: [
        ["Bern", 1],
        ["Thun", 2],
      ],
    }),
  ).toEqual({ kind: "bars", x: 0, y: 1 });
  expect(
    firstChoice({
      columns: ["a", "b"],
      rows: [
        ["x", "y"],
        ["z", "w"],
      ],
    }),
  ).toBeUndefined();
  expect(firstChoice({ columns: ["n", "m"], rows: [[1, 2]] })).toBeUndefined();
});

test("exact decimals become numbers, and nulls gaps", () => {
  expect(chartData(sales, { kind: "bars", x: 1, y: 2 })).toEqual({
    labels: ["Bern", "Thun"],
    series: [{ name: "total", values: [10.5, null] }],
    isCut: false,
  });
});
