import { DatabaseSync } from "node:sqlite";
import { compileQuery } from "../compile-query.ts";
import { buildModel } from "../build/build-model.ts";
import type { CataloguedTable } from "../model/catalogued-table.ts";
import { metricsFile } from "../model/metrics-file.ts";
import { metricQuery } from "@tandem/protocol";
import type { Cell } from "./scenarios/scenario.ts";

export const NOW = new Date("2026-03-15T12:00:00Z");

/** Orders with several lines and several payments each: joined together, all sums would be too large. */
export const SHOP_SQL = `
  CREATE TABLE regions (id INTEGER, name TEXT);
  INSERT INTO regions VALUES (1, 'North'), (2, 'South');
  CREATE TABLE customers (id INTEGER, name TEXT, segment TEXT, region_id INTEGER, is_test BOOLEAN, referred_by INTEGER);
  INSERT INTO customers VALUES (1, 'Ada', 'home', 1, 0, NULL), (2, 'Bob', 'office', 2, 0, 1), (3, 'Cid', NULL, NULL, 0, 1), (4, 'Eve', 'home', 1, 1, 2);
  CREATE TABLE orders (id INTEGER, customer_id INTEGER, ship_to INTEGER, bill_to INTEGER, ordered_at TEXT, shipped_at TEXT, status TEXT);
  INSERT INTO orders VALUES
    (1, 1, 1, 2, '2026-01-05 10:00:00', '2026-01-08 10:00:00', 'done'), (2, 1, 1, 1, '2026-01-31 23:30:00', '2026-02-02 10:00:00', 'done'),
    (3, 2, 2, 2, '2026-02-10 10:00:00', NULL, 'cancelled'), (4, 3, 1, 1, '2026-02-11 10:00:00', '2026-02-12 10:00:00', 'done'),
    (5, NULL, NULL, NULL, '2025-02-20 10:00:00', NULL, 'done'), (6, 4, 1, 1, '2026-03-01 10:00:00', NULL, 'open');
  CREATE TABLE lines (order_id INTEGER, line INTEGER, amount_cents INTEGER, product TEXT);
  INSERT INTO lines VALUES (1, 1, 1000, 'tea'), (1, 2, 500, 'cup'), (2, 1, 2000, 'tea'), (3, 1, 700, 'tea'), (4, 1, 300, 'cup'), (4, 2, 300, 'cup'), (5, 1, 4000, 'tea'), (6, 1, 100, 'cup');
  CREATE TABLE payments (id INTEGER, order_id INTEGER, paid_at TEXT, cents INTEGER);
  INSERT INTO payments VALUES (1, 1, '2026-01-06 10:00:00', 1000), (2, 1, '2026-02-06 10:00:00', 500), (3, 2, '2026-02-01 10:00:00', 2000), (4, 4, '2026-02-12 10:00:00', 600);
  CREATE TABLE stock (day TEXT, product TEXT, on_hand INTEGER);
  INSERT INTO stock VALUES ('2026-01-01', 'tea', 10), ('2026-01-31', 'tea', 4), ('2026-01-31', 'cup', 7), ('2026-02-28', 'tea', 9);
`;

const column = (name: string, type: string) => ({
  name,
  type,
  kind: ({ INTEGER: "integer", BOOLEAN: "boolean", TEXT: "text" } as const)[type as "INTEGER"],
});
const table = (name: string, columns: string, keys: string[][], joins: [string, string][] = []): CataloguedTable => ({
  schema: "main",
  name,
  columns: columns
    .split(" ")
    .map((text) =>
      column(text.replace(/[#?]$/, ""), text.endsWith("#") ? "INTEGER" : text.endsWith("?") ? "BOOLEAN" : "TEXT"),
    ),
  keys,
  joins: joins.map(([from, to]) => ({ columns: [from], to: { schema: "main", name: to }, toColumns: ["id"] })),
});

export const SHOP_TABLES: CataloguedTable[] = [
  table("regions", "id# name", [["id"]]),
  table(
    "customers",
    "id# name segment region_id# is_test? referred_by#",
    [["id"]],
    [
      ["region_id", "regions"],
      ["referred_by", "customers"],
    ],
  ),
  table(
    "orders",
    "id# customer_id# ship_to# bill_to# ordered_at shipped_at status",
    [["id"]],
    [
      ["customer_id", "customers"],
      ["ship_to", "regions"],
      ["bill_to", "regions"],
    ],
  ),
  table("lines", "order_id# line# amount_cents# product", [["order_id", "line"]], [["order_id", "orders"]]),
  table("payments", "id# order_id# paid_at cents#", [["id"]], [["order_id", "orders"]]),
  table("stock", "day product on_hand#", [["day", "product"]]),
];

export const SHOP_FILES = [
  { entity: "region", table: "main.regions", grain: ["id"], dimensions: { name: null } },
  {
    entity: "customer",
    table: "main.customers",
    grain: ["id"],
    roles: { referrer: ["referred_by"] },
    dimensions: { name: null, segment: null, test: { expr: "is_test" } },
    measures: { count: { count: "rows" } },
    metrics: { customers: { measure: "count", aka: ["buyers"] } },
  },
  {
    entity: "order",
    table: "main.orders",
    grain: ["id"],
    roles: { ship_to: ["ship_to"], bill_to: ["bill_to"] },
    time: "placed",
    dimensions: {
      placed: { expr: "ordered_at", time: "day", zone: "Europe/Berlin" },
      shipped: { expr: "shipped_at", time: "day" },
      status: null,
    },
    segments: { real: "status <> 'cancelled' and not coalesce(customer.is_test, false)" },
    measures: { count: { count: "rows" }, real: { count: "rows", where: "real" } },
    metrics: {
      orders: { measure: "count" },
      real_orders: { measure: "real" },
      cancelled: { measure: "count", where: "status = 'cancelled'" },
      cancel_rate: { ratio: ["cancelled", "orders"] },
    },
  },
  {
    entity: "line",
    table: "main.lines",
    grain: ["order_id", "line"],
    time: "placed",
    dimensions: { product: null, placed: { expr: "order.ordered_at", time: "day", zone: "Europe/Berlin" } },
    measures: {
      amount: { sum: "amount_cents / 100", unit: "EUR" },
      tea: { sum: "amount_cents / 100", where: "product = 'tea'" },
    },
    metrics: {
      revenue: { measure: "amount" },
      tea_revenue: { measure: "tea" },
      order_value: { ratio: ["revenue", "orders"] },
      unpaid: { derived: "revenue - paid" },
      growth: { derived: "revenue - prior", with: { prior: { metric: "revenue", offset: "1 year" } } },
      year_to_date: { cumulative: "revenue", to: "year" },
      doubled: { derived: "unpaid * 2 + revenue * 0" },
    },
  },
  {
    entity: "payment",
    table: "main.payments",
    grain: ["id"],
    time: "paid",
    dimensions: { paid: { expr: "paid_at", time: "day" } },
    measures: { cents: { sum: "cents / 100" } },
    metrics: { paid: { measure: "cents" } },
  },
  {
    entity: "stock",
    table: "main.stock",
    grain: ["day", "product"],
    time: "day",
    dimensions: { day: { time: "day" }, product: null },
    measures: {
      on_hand: { sum: "on_hand", over: { time: "last" } },
      each: { sum: "on_hand", over: { time: "last", per: ["product"] } },
    },
    metrics: { stock: { measure: "on_hand" }, stock_each: { measure: "each" } },
  },
].map((file) => metricsFile.parse(file));

export const shopModel = () => buildModel({ dialect: "sqlite", files: SHOP_FILES, tables: SHOP_TABLES });

export function openShop(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec(SHOP_SQL);
  return database;
}

/** Compiles and runs a query on the shop. */
export function askShop(query: object): Cell[][] {
  const { sql } = compileQuery(shopModel(), metricQuery.parse(query), NOW);
  const database = openShop();
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  const rows = statement.all() as unknown as Cell[][];
  database.close();
  return rows;
}
