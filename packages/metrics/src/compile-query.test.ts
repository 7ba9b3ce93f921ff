import { describe, expect, test } from "vitest";
import { compileQuery } from "./compile-query.ts";
import { buildModel } from "./build/build-model.ts";
import { metricsFile } from "./model/metrics-file.ts";
import { metricQuery } from "@tandem/protocol";
import { askShop, NOW, SHOP_FILES, SHOP_TABLES, shopModel } from "./testing/shop.ts";

test("the shop's definitions are sound", () => expect(shopModel().broken).toEqual([]));

describe("facts at different grains", () => {
  test("two facts of one order are not multiplied by each other", () => {
    expect(askShop({ metrics: ["revenue", "paid", "orders"] })).toEqual([[89, 41, 6]]);
  });
  test("facts are stacked by a shared dimension, and rows without one stay in one NULL group", () => {
    expect(askShop({ metrics: ["revenue", "paid"], by: ["customer.segment"] })).toEqual([
      ["home", 36, 35],
      ["office", 7, null],
      [null, 46, 6],
    ]);
  });
  test("a dimension two steps away", () => {
    expect(askShop({ metrics: ["revenue", "customers"], by: ["customer.region.name"] })).toEqual([
      ["North", 36, 2],
      ["South", 7, 1],
      [null, 46, 1],
    ]);
  });
  test("each metric has its own time", () => {
    expect(askShop({ metrics: ["revenue", "paid"], by: ["time.month"] })).toEqual([
      ["2025-02-01", 40, null],
      ["2026-01-01", 15, 10],
      ["2026-02-01", 33, 31],
      ["2026-03-01", 1, null],
    ]);
  });
  test("two roles of one entity are two dimensions", () => {
    expect(askShop({ metrics: ["orders"], by: ["order.ship_to.name", "order.bill_to.name"] })).toEqual([
      ["North", "North", 3],
      ["North", "South", 1],
      ["South", "South", 1],
      [null, null, 1],
    ]);
  });
  test("a self join by its role", () => {
    expect(askShop({ metrics: ["customers"], by: ["customer.referrer.name"] })).toEqual([
      ["Ada", 2],
      ["Bob", 1],
      [null, 1],
    ]);
  });
});

describe("kinds of metrics", () => {
  test("a filtered count is zero, not missing, beside another measure", () => {
    expect(askShop({ metrics: ["orders", "cancelled", "cancel_rate"], by: ["customer.segment"] })).toEqual([
      ["home", 3, 0, 0],
      ["office", 1, 1, 1],
      [null, 2, 0, 0],
    ]);
  });
  test("a ratio divides sums of two facts, and is NULL without a divisor", () => {
    expect(askShop({ metrics: ["order_value"], by: ["order.status"] })).toEqual([
      ["cancelled", 7],
      ["done", 20.25],
      ["open", 1],
    ]);
  });
  test("a derived metric takes a missing sum for zero, also through three levels", () => {
    expect(askShop({ metrics: ["unpaid", "doubled"], by: ["customer.segment"] })).toEqual([
      ["home", 1, 2],
      ["office", 7, 14],
      [null, 40, 80],
    ]);
  });
  test("an earlier period is compared without adding rows of the future", () => {
    expect(askShop({ metrics: ["revenue", "growth"], by: ["time.month"] })).toEqual([
      ["2025-02-01", 40, 40],
      ["2026-01-01", 15, 15],
      ["2026-02-01", 33, -7],
      ["2026-03-01", 1, 1],
    ]);
  });
  test("a running total of the year begins before the range", () => {
    const where = [{ field: "time", from: "2026-02-01", until: "2026-04-01" }];
    expect(askShop({ metrics: ["year_to_date"], by: ["time.month"], where })).toEqual([
      ["2026-02-01", 48],
      ["2026-03-01", 49],
    ]);
  });
  test("stock is not added up over time", () => {
    expect(askShop({ metrics: ["stock", "stock_each"], by: ["time.month"] })).toEqual([
      ["2026-01-01", 11, 11],
      ["2026-02-01", 9, 9],
    ]);
    expect(askShop({ metrics: ["stock", "stock_each"] })).toEqual([[9, 16]]);
  });
});

describe("filters", () => {
  test("a filter on a shared dimension applies to every fact", () => {
    const where = [{ field: "customer.segment", op: "=", value: "home" }];
    expect(askShop({ metrics: ["revenue", "paid"], where })).toEqual([[36, 35]]);
  });
  test("a filter behind many rows counts each row once", () => {
    const where = [{ field: "line.product", op: "=", value: "cup" }];
    expect(askShop({ metrics: ["orders", "customers"], where })).toEqual([[3, 3]]);
  });
  test("ranges are half-open in the zone of the dimension", () => {
    // 23:30 in UTC on the last of January is February in Berlin.
    const within = (from: string, until: string) =>
      askShop({ metrics: ["orders"], where: [{ field: "time", from, until }] });
    expect(within("2026-01-01", "2026-02-01")).toEqual([[1]]);
    expect(within("2026-02-01", "2026-03-01")).toEqual([[3]]);
  });
  test("a filter on a metric keeps whole groups", () => {
    const where = [{ field: "revenue", op: ">", value: 10 }];
    expect(askShop({ metrics: ["revenue"], by: ["customer.segment"], where })).toEqual([
      ["home", 36],
      [null, 46],
    ]);
  });
  test("a segment of the measure and one of the query hold together", () => {
    expect(askShop({ metrics: ["real_orders", "orders"], segments: ["order.real"], by: ["customer.segment"] })).toEqual(
      [
        ["home", 2, 2],
        [null, 2, 2],
      ],
    );
  });
  test("empty periods appear on request", () => {
    const where = [{ field: "time", from: "2026-01-01", until: "2026-04-01" }];
    expect(askShop({ metrics: ["paid"], by: ["time.month"], where, fill: true })).toEqual([
      ["2026-01-01", 10],
      ["2026-02-01", 31],
      ["2026-03-01", null],
    ]);
  });
  test("text in a filter is never SQL", () => {
    const where = [{ field: "customer.name", op: "=", value: "x' OR '1'='1" }];
    expect(askShop({ metrics: ["orders"], where })).toEqual([[0]]);
  });
});

describe("refusals", () => {
  const refusal = (query: object): string => {
    try {
      compileQuery(shopModel(), metricQuery.parse(query), NOW);
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };
  test.each([
    ["a dimension behind many rows", { metrics: ["orders"], by: ["line.product"] }, /several rows of line/],
    ["two equally short ways", { metrics: ["orders"], by: ["region.name"] }, /ways lead from order to region/],
    ["a bare name of two entities", { metrics: ["revenue", "stock"], by: ["product"] }, /several entities/],
    ["an unrelated dimension", { metrics: ["stock"], by: ["customer.segment"] }, /No verified join/],
    ["a finer period than is known", { metrics: ["orders"], by: ["time.hour"] }, /known by day/],
    ["an earlier value without a time", { metrics: ["growth"] }, /names no time/],
    ["an unknown metric", { metrics: ["revenu"] }, /There is no metric revenu/],
    ["a metric as a dimension", { metrics: ["orders"], by: ["revenue"] }, /no dimension revenue/],
  ])("%s", (_, query, message) => expect(refusal(query)).toMatch(message));
});

describe("broken definitions are listed, and the rest stays usable", () => {
  const build = (change: object) => {
    const files = SHOP_FILES.map((file) => (file.entity === "line" ? metricsFile.parse({ ...file, ...change }) : file));
    return buildModel({ dialect: "sqlite", files, tables: SHOP_TABLES });
  };
  test.each([
    [
      "a missing column",
      { measures: { amount: { sum: "amount" }, tea: { sum: "amount_cents" } } },
      "main.lines has no column amount.",
    ],
    ["an unverified grain", { grain: ["order_id"] }, "(order_id) is not a verified key of main.lines."],
    ["a sum of text", { measures: { amount: { sum: "product" } } }, "The measure amount is the sum of a text."],
    [
      "a window function",
      { measures: { amount: { sum: "lag(amount_cents)" } } },
      "The function lag in `lag(amount_cents)` is not available.",
    ],
    [
      "a nested aggregate",
      { measures: { amount: { sum: "sum(amount_cents)" } } },
      "The function sum in `sum(amount_cents)` is not available.",
    ],
    [
      "a circle",
      { metrics: { a: { derived: "b + 1" }, b: { derived: "a + 1" } } },
      "The metric a is defined by itself: a → b → a.",
    ],
  ])("%s", (_, change, message) => {
    const model = build(change);
    expect(model.broken.map((part) => part.message)).toContain(message);
    expect(model.metrics.has("orders")).toBe(true);
  });
});
