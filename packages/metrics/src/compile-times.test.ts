import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { metricQuery } from "@tandem/protocol";
import { compileQuery } from "./compile-query.ts";
import { buildModel } from "./build/build-model.ts";
import type { CataloguedTable } from "./model/catalogued-table.ts";
import { metricsFile } from "./model/metrics-file.ts";

const KINDS = { INTEGER: "integer", TEXT: "text", TIMESTAMP: "time" } as const;
const table = (name: string, columns: Record<string, keyof typeof KINDS>): CataloguedTable => ({
  schema: "main",
  name,
  columns: Object.entries(columns).map(([column, type]) => ({ name: column, type, kind: KINDS[type] })),
  keys: [["id"]],
  joins: name === "refunds" ? [{ columns: ["sale"], to: { schema: "main", name: "sales" }, toColumns: ["id"] }] : [],
});
const TABLES = [
  table("sales", { id: "INTEGER", sold_at: "TIMESTAMP", status: "TEXT", cents: "INTEGER" }),
  table("refunds", { id: "INTEGER", sale: "INTEGER", paid_at: "TIMESTAMP", cents: "INTEGER" }),
];
const SETUP = `
  CREATE TABLE sales (id INTEGER, sold_at TIMESTAMP, status TEXT, cents INTEGER);
  INSERT INTO sales VALUES (1, '2025-01-10 10:00:00', 'ok', 1000), (2, '2025-02-10 10:00:00', 'late', 500),
    (3, '2025-02-28 10:00:00', 'ok', 40), (4, '2025-03-30 10:00:00', 'ok', 700), (5, '2025-03-31 23:30:00', 'ok', 900);
  CREATE TABLE refunds (id INTEGER, sale INTEGER, paid_at TIMESTAMP, cents INTEGER);
  INSERT INTO refunds VALUES (1, 1, '2025-01-20 10:00:00', 100), (2, 1, '2025-04-20 10:00:00', 50), (3, 4, '2025-04-21 10:00:00', 30);`;

const FILES = [
  {
    entity: "sale",
    table: "main.sales",
    grain: ["id"],
    time: "sold",
    dimensions: {
      sold: { expr: "sold_at", time: "hour" },
      moment: { expr: "sold_at" },
      tens: { expr: "10 * weekday(sold_at)" },
      less: { expr: "10 - quarter(sold_at) * 2 - 2 * quarter(sold_at)" },
    },
    measures: { count: { count: "rows" }, cents: { sum: "cents" }, rounded: { sum: "round(cents, -2)" } },
    metrics: {
      sales: { measure: "count" },
      cents: { measure: "cents" },
      rounded: { measure: "rounded" },
      late: { measure: "count", where: "status = 'late'" },
      sales_so_far: { cumulative: "sales" },
      late_so_far: { cumulative: "late" },
      late_share: { ratio: ["late_so_far", "sales_so_far"] },
      cents_of_year: { cumulative: "cents", to: "year" },
      kept_of_year: { derived: "cents_of_year - refunds_of_year" },
      last_month: { cumulative: "cents", window: "1 month" },
      last_week: { cumulative: "cents", window: "7 days" },
      growth: { derived: "cents - before", with: { before: { metric: "cents", offset: "1 month" } } },
    },
  },
  {
    entity: "refund",
    table: "main.refunds",
    grain: ["id"],
    time: "paid",
    dimensions: { paid: { expr: "paid_at", time: "day" }, sold: { expr: "sale.sold_at", time: "hour" } },
    measures: { cents: { sum: "cents" }, by_sale: { sum: "cents", time: "sold" } },
    metrics: {
      refunds: { measure: "cents" },
      refunds_of_year: { cumulative: "refunds", to: "year" },
      refunds_by_sale: { measure: "by_sale" },
      by_sale_of_year: { cumulative: "refunds_by_sale", to: "year" },
    },
  },
].map((file) => metricsFile.parse(file));

function ask(query: object): unknown {
  const model = buildModel({ dialect: "sqlite", files: FILES, tables: TABLES });
  expect(model.broken).toEqual([]);
  const { sql } = compileQuery(model, metricQuery.parse(query));
  const database = new DatabaseSync(":memory:");
  database.exec(SETUP);
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  const rows = statement.all();
  database.close();
  return rows;
}
const MONTH = { by: ["time.month"] };
const from = (start: string, until: string, field = "time") => ({ where: [{ field, from: start, until }] });

describe("running totals", () => {
  test("a month in which only the other input has rows keeps the total of the months before", () => {
    expect(ask({ metrics: ["late_share"], ...MONTH })).toEqual([
      ["2025-01-01", 0],
      ["2025-02-01", 1 / 3],
      ["2025-03-01", 1 / 5],
    ]);
    expect(ask({ metrics: ["kept_of_year", "late_so_far"], ...MONTH })).toEqual([
      ["2025-01-01", 900, 0],
      ["2025-02-01", 1440, 1],
      ["2025-03-01", 3040, 1],
      ["2025-04-01", 2960, 1],
    ]);
  });
  test("a window of a month ends in a shorter month", () => {
    expect(ask({ metrics: ["last_month"], by: ["time.day"], ...from("2025-03-29", "2025-04-01") })).toEqual([
      ["2025-03-29", 40],
      ["2025-03-30", 740],
      ["2025-03-31", 1600],
    ]);
  });
  test("a window of days, grouped by hours, has its length to the hour", () => {
    const hours = from("2025-04-06T09:00", "2025-04-06T11:00");
    expect(ask({ metrics: ["last_week"], by: ["time.hour"], ...hours })).toEqual([
      ["2025-04-06T09:00", 1600],
      ["2025-04-06T10:00", 900],
    ]);
    expect(() => ask({ metrics: ["last_month"], by: ["time.hour"] })).toThrow(/does not consist of whole hours/);
  });
  test("a range by another name of the own time does not cut off earlier rows", () => {
    const range = from("2025-03-01", "2025-04-01", "sale.sold");
    expect(ask({ metrics: ["by_sale_of_year"], ...MONTH, ...range })).toEqual([["2025-03-01", 180]]);
  });
});

test("1 to 30 March is compared with the whole of February", () => {
  expect(ask({ metrics: ["growth"], ...from("2025-03-01", "2025-03-31") })).toEqual([[700 - 540]]);
});

test("empty periods are added only where all ranges overlap", () => {
  const where = [
    { field: "time", from: "2025-01-01", until: "2025-06-01" },
    { field: "time", from: "2025-03-01", until: "2025-05-01" },
  ];
  expect(ask({ metrics: ["sales"], ...MONTH, where, fill: true })).toEqual([
    ["2025-03-01", 2],
    ["2025-04-01", 0],
  ]);
});

describe("values of times", () => {
  const count = (field: string, op: string, value: string) =>
    ask({ metrics: ["sales"], where: [{ field, op, value }] });
  test("a period is named by its start, or in short", () => {
    expect(count("time.month", "=", "2025-03")).toEqual([[2]]);
    expect(count("time.year", "=", "2025")).toEqual([[5]]);
    expect(count("time.day", "<=", "2025-03-30")).toEqual([[4]]);
    expect(count("time", "=", "2025-03-31 23:00")).toEqual([[1]]);
  });
  test("a value that is no period is refused instead of finding nothing", () => {
    expect(() => count("time.day", "<=", "2025-03")).toThrow(/not the start of such a period/);
    expect(() => count("time.month", "=", "2025-03-15")).toThrow(/not the start of such a period/);
    expect(() => count("time", "=", "2025-03-31")).toThrow(/not the start of such a period/);
    expect(() => count("time.day", "=", "31.03.2025")).toThrow(/not a day/);
  });
  test("a moment is compared as a time, not as text", () => {
    expect(count("sale.moment", "<=", "2025-03-31T23:00")).toEqual([[4]]);
  });
  test("the finest periods of two facts are not mixed", () => {
    expect(() => ask({ metrics: ["cents", "refunds"], by: ["time"] })).toThrow(/by hour for some/);
  });
});

test("parts of a time and rounding to hundreds work inside arithmetic on SQLite", () => {
  expect(ask({ metrics: ["sales"], by: ["sale.tens"] })).toEqual([
    [10, 2],
    [50, 2],
    [70, 1],
  ]);
  expect(ask({ metrics: ["sales"], by: ["sale.less"] })).toEqual([[6, 5]]);
  expect(ask({ metrics: ["rounded"] })).toEqual([[3100]]);
});
