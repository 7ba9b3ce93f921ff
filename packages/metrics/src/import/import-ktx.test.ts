import { describe, expect, test } from "vitest";
import { askImported, importShop, rowsOf } from "./testing/import-shop.ts";
import { KTX_SHOP } from "./testing/ktx-shop.ts";

const imported = await importShop("ktx", KTX_SHOP);

const source = (measures: string, more = "") => [
  ...KTX_SHOP.slice(1),
  {
    path: "orders.yaml",
    text: `name: orders\ntable: main.orders\ngrain: [id]\ncolumns: [{ name: ordered_at, type: time, role: time }]\n${more}measures:\n${measures}\n`,
  },
];

describe("sources give the numbers of their own SQL", () => {
  test.each([
    ["a measure whose name two sources share", "orders_count", "SELECT COUNT(*) FROM orders"],
    ["the other one", "lines_count", "SELECT COUNT(*) FROM lines"],
    [
      "a segment with a computed column",
      "done",
      "SELECT COUNT(*) FROM orders WHERE status <> 'cancelled' AND status = 'done'",
    ],
    [
      "a filter in a distinct count",
      "buyers",
      "SELECT COUNT(DISTINCT customer_id) FROM orders WHERE status <> 'cancelled'",
    ],
    [
      "a filter of another source",
      "home_orders",
      "SELECT COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.segment = 'home'",
    ],
    ["a ratio of aggregates", "done_share", "SELECT AVG(CASE WHEN status = 'done' THEN 1.0 ELSE 0 END) FROM orders"],
    ["a filtered aggregate by an alias", "north", "SELECT COUNT(*) FROM orders WHERE ship_to = 1"],
    ["a computed column in a sum", "revenue", "SELECT SUM(amount_cents / 100.0) FROM lines"],
    [
      "measures of two sources",
      "value",
      "SELECT (SELECT SUM(amount_cents) / 100.0 FROM lines) / (SELECT COUNT(*) FROM orders)",
    ],
    ["an overlay, whose table has its name", "customers", "SELECT COUNT(*) FROM customers"],
  ])("%s", (_, metric, sql) => {
    const [[got]] = askImported(imported, { metrics: [metric] }) as [[number]];
    const [[wanted]] = rowsOf(sql) as [[number]];
    expect(got).toBeCloseTo(wanted, 9);
  });
});

test("settings and hidden columns are listed", () => {
  expect(imported.unmapped.map(({ path, line, item }) => `${path.split("/").at(-1)}:${line} ${item}`)).toEqual([
    "orders.yaml:6 column orders.id",
    "orders.yaml:7 column orders.customer_id",
    "ktx.yaml:1 ktx.yaml: connections",
    "ktx.yaml:3 ktx.yaml: llm",
  ]);
  expect(imported.asked).toEqual([]);
  const { dimensions, description } = imported.files.find(({ entity }) => entity === "orders")!.file;
  expect(Object.keys(dimensions ?? {})).toEqual(["status", "ordered_at", "is_done"]);
  expect(description).toBe("One row per order.");
});

describe("defects of KTX", () => {
  test("(a) two equally short ways are refused, not chosen", async () => {
    const more = "joins:\n  - { to: regions, on: ship_to = regions.id, relationship: many_to_one }\n";
    const alias = "  - { to: regions, on: bill_to = bill.id, relationship: many_to_one, alias: bill }\n";
    const { unmapped, metrics } = await importShop("ktx", [
      ...source("  - { name: n, expr: count(*), filter: \"regions.name = 'North'\" }", more + alias),
      {
        path: "payments.yaml",
        text: "name: payments\ntable: main.payments\ngrain: [id]\njoins: [{ to: orders, on: order_id = orders.id, relationship: many_to_one }]\nmeasures: [{ name: northern, expr: sum(cents), filter: \"regions.name = 'North'\" }]\n",
      },
    ]);
    expect(metrics).toContain("n");
    expect(metrics).not.toContain("northern");
    expect(unmapped.find(({ item }) => item.endsWith("northern"))?.reason).toMatch(
      /ways lead from payments to regions/,
    );
  });
  test("(b) facts without a match stay, and empty groups count nothing", () => {
    expect(askImported(imported, { metrics: ["orders_count"], by: ["customers.segment"] })).toEqual(
      rowsOf(
        "SELECT c.segment, COUNT(*) FROM orders o LEFT JOIN customers c ON c.id = o.customer_id GROUP BY 1 ORDER BY c.segment IS NULL, c.segment",
      ),
    );
  });
  test("(c) two facts share one NULL group", () => {
    expect(askImported(imported, { metrics: ["orders_count", "revenue"], by: ["customers.segment"] })).toEqual([
      ["home", 3, 36],
      ["office", 1, 7],
      [null, 2, 46],
    ]);
  });
  test("(d) weeks begin on Monday, and hours are kept", () => {
    const where = [{ field: "orders.ordered_at", from: "2026-01-05", until: "2026-01-06" }];
    expect(askImported(imported, { metrics: ["orders_count"], by: ["orders.ordered_at.week"], where })).toEqual([
      ["2026-01-05", 1],
    ]);
    expect(askImported(imported, { metrics: ["orders_count"], by: ["orders.ordered_at.hour"], where })).toEqual([
      ["2026-01-05T10:00", 1],
    ]);
  });
  test("(e) a join with a range of validity is refused, with all that uses it", async () => {
    const more =
      "joins:\n  - { to: customers, on: customer_id = customers.id and ordered_at >= customers.valid_from, relationship: many_to_one }\n";
    const text = source(
      "  - { name: n, expr: count(*) }\n  - { name: f, expr: count(*), filter: \"customers.segment = 'home'\" }",
      more,
    );
    const { metrics, unmapped } = await importShop("ktx", text);
    expect(metrics).toContain("n");
    expect(metrics).not.toContain("f");
    expect(unmapped.map(({ item }) => item)).toEqual(
      expect.arrayContaining(["join of orders to customers", "metric f"]),
    );
  });
  test("(f) a median is computed on SQLite, too", () => {
    expect(askImported(imported, { metrics: ["middle"] })).toEqual([[600]]);
  });
  test.each([
    ["(g) a filter that cannot be read", "count(*), filter: \"status = = 'x'\"", /cannot be parsed/],
    ["a filter with an unknown column", "count(*), filter: \"colour = 'x'\"", /has no column colour/],
    ["a window function", "sum(id) over (partition by status)", /window function/],
    ["a nested aggregate", "sum(count(*))", /aggregate/],
    ["an aggregate of another source's column", "sum(customers.id)", /another source/],
    ["a column outside an aggregate", "count(*) + id", /outside an aggregate/],
    ["an approximate count", "approx_count_distinct(id)", /approx/],
    ["a sum of distinct values", "sum(distinct id)", /distinct/],
    ["a measure by itself", "n + 1", /by itself/],
  ])("%s refuses its measure", async (_, expr, reason) => {
    const { metrics, unmapped } = await importShop(
      "ktx",
      source(`  - { name: n, expr: ${expr} }\n`.replace(/expr: ([^",]+)(,| })/, 'expr: "$1"$2')),
    );
    expect(metrics).not.toContain("n");
    expect(unmapped.find(({ item }) => item === "metric n")?.reason).toMatch(reason);
  });
  test("(h) the rows are those of the measure's source, whatever comes first in the query", () => {
    const by = ["regions.name"];
    expect(askImported(imported, { metrics: ["customers"], by })).toEqual([
      ["North", 2],
      ["South", 1],
      [null, 1],
    ]);
  });
});
