import { between, type World } from "./scenario.ts";

/** Snapshots of stock and balances, which do not add up over time. */
export const INVENTORY: World = {
  name: "inventory",
  tables: {
    products: {
      columns: "id int, name text, family text",
      key: ["id"],
      rows: [
        [1, "bolt", "metal"],
        [2, "nut", "metal"],
        [3, "rope", "soft"],
        [4, "unused", null],
      ],
    },
    sites: {
      columns: "code text, region text",
      key: ["code"],
      rows: [
        ["N", "north"],
        ["S", "south"],
      ],
    },
    snapshots: {
      columns: "day date, site text, product_id int, on_hand int, value dec",
      key: ["day", "site", "product_id"],
      joins: ["site → sites", "product_id → products"],
      rows: [
        ["2026-01-30", "N", 1, 10, 1.5],
        ["2026-01-30", "S", 1, 4, 0.6],
        ["2026-01-31", "N", 1, 8, 1.2],
        ["2026-01-31", "N", 2, 5, 2.5],
        ["2026-01-31", "S", 1, 6, 0.9],
        ["2026-02-27", "N", 1, 3, 0.45],
        ["2026-02-27", "S", 3, 9, 4.5],
        ["2026-02-28", "N", 1, 2, 0.3],
        ["2026-02-28", "N", 2, 0, 0],
        ["2026-03-01", "S", 3, 7, 3.5],
        ["2026-03-01", "N", 1, -1, -0.15],
        ["2026-03-02", "Q", 9, 100, 10],
      ],
    },
    balances: {
      columns: "id int, account text, owner text, taken_at time, cents big",
      key: ["id"],
      rows: [
        [1, "a", "x", "2026-01-05 08:00:00", 100],
        [2, "a", "x", "2026-01-05 20:00:00", 150],
        [3, "b", "x", "2026-01-05 09:00:00", 40],
        [4, "b", "y", "2026-02-01 09:00:00", 70],
        [5, "a", "x", "2026-02-03 09:00:00", 10],
        [6, "c", "y", "2026-01-31 23:59:59", 5],
        [7, "c", "y", null, 999],
        [8, "d", null, "2026-02-03 09:00:00", 1],
        [9, "d", null, "2026-02-03 09:00:00", 2],
      ],
    },
    moves: {
      columns: "id int, product_id int, moved_at time, quantity int",
      key: ["id"],
      joins: ["product_id → products"],
      rows: [
        [1, 1, "2026-01-31 10:00:00", -2],
        [2, 2, "2026-01-31 11:00:00", 5],
        [3, 1, "2026-02-28 10:00:00", -6],
        [4, null, "2026-02-28 10:00:00", 1],
      ],
    },
  },
  files: [
    {
      entity: "product",
      table: "products",
      grain: ["id"],
      dimensions: { name: null, family: null },
      measures: { all: { count: "rows" } },
      metrics: { products: { measure: "all" } },
    },
    { entity: "site", table: "sites", grain: ["code"], dimensions: { region: null } },
    {
      entity: "snapshot",
      table: "snapshots",
      grain: ["day", "site", "product_id"],
      time: "day",
      dimensions: { day: { time: "day" }, site_code: { expr: "site.code" } },
      measures: {
        on_hand: { sum: "on_hand", over: { time: "last" } },
        each: { sum: "on_hand", over: { time: "last", per: ["site.code", "product_id"] } },
        opening: { sum: "on_hand", over: { time: "first" } },
        typical: { sum: "on_hand", over: { time: "average" } },
        value: { sum: "value", over: { time: "last" } },
        lines: { count: "rows", over: { time: "last" } },
        rows: { count: "rows" },
        positive: { sum: "on_hand", over: { time: "last" }, where: "on_hand > 0" },
      },
      metrics: {
        stock: { measure: "on_hand" },
        stock_each: { measure: "each" },
        opening: { measure: "opening" },
        typical: { measure: "typical" },
        stock_value: { measure: "value" },
        lines: { measure: "lines" },
        snapshot_rows: { measure: "rows" },
        positive: { measure: "positive" },
        unit_value: { ratio: ["stock_value", "stock"] },
        change: { derived: "stock - before", with: { before: { metric: "stock", offset: "1 month" } } },
      },
    },
    {
      entity: "balance",
      table: "balances",
      grain: ["id"],
      time: "at",
      dimensions: { at: { expr: "taken_at", time: "day" }, account: null, owner: null },
      measures: {
        last: { sum: "cents / 100", over: { time: "last", per: ["account"] } },
        first: { sum: "cents / 100", over: { time: "first", per: ["account"] } },
        day: { sum: "cents / 100", over: { time: "last" } },
      },
      metrics: { balance: { measure: "last" }, first_balance: { measure: "first" }, day_balance: { measure: "day" } },
    },
    {
      entity: "move",
      table: "moves",
      grain: ["id"],
      time: "at",
      dimensions: { at: { expr: "moved_at", time: "day" } },
      measures: { quantity: { sum: "quantity" } },
      metrics: {
        moved: { measure: "quantity" },
        moved_so_far: { cumulative: "moved" },
        gap: { derived: "stock - moved" },
      },
    },
  ],
  scenarios: [
    {
      title: "the stock of the last day",
      query: { metrics: ["stock"] },
      sql: "select sum(on_hand) from @snapshots where day = (select max(day) from @snapshots)",
    },
    {
      title: "the stock at the end of each month",
      query: { metrics: ["stock", "stock_value"], by: ["time.month"] },
      sql: ({ month }) =>
        `select ${month("s.day")}, sum(s.on_hand), sum(s.value) from @snapshots s join (select max(day) d from @snapshots group by ${month("day")}) x on x.d = s.day group by ${month("s.day")}`,
    },
    {
      title: "groups of stock add up to the total",
      query: { metrics: ["stock"], by: ["product.family"], where: [{ field: "time", until: "2026-03-02" }] },
      sql: "select p.family, sum(s.on_hand) from @snapshots s left join @products p on p.id = s.product_id where s.day = '2026-03-01' group by p.family",
    },
    {
      title: "stock by month and region",
      query: { metrics: ["stock"], by: ["time.month", "site.region"] },
      sql: ({ month }) =>
        `select ${month("s.day")}, r.region, sum(s.on_hand) from @snapshots s join (select max(day) d from @snapshots group by ${month("day")}) x on x.d = s.day left join @sites r on r.code = s.site group by ${month("s.day")}, r.region`,
    },
    {
      title: "each site and product has its own last day",
      query: { metrics: ["stock_each"] },
      sql: "select sum(on_hand) from @snapshots s where day = (select max(day) from @snapshots t where t.site = s.site and t.product_id = s.product_id)",
    },
    {
      title: "each site and product, by region",
      query: { metrics: ["stock_each"], by: ["site.region"] },
      sql: "select r.region, sum(on_hand) from @snapshots s left join @sites r on r.code = s.site where day = (select max(day) from @snapshots t where t.site = s.site and t.product_id = s.product_id) group by r.region",
    },
    {
      title: "each site and product, by month",
      query: { metrics: ["stock_each"], by: ["time.month"] },
      sql: ({ month }) =>
        `select ${month("s.day")}, sum(on_hand) from @snapshots s where day = (select max(day) from @snapshots t where t.site = s.site and t.product_id = s.product_id and ${month("t.day")} = ${month("s.day")}) group by ${month("s.day")}`,
    },
    {
      title: "opening stock",
      query: { metrics: ["opening"], by: ["time.quarter"] },
      sql: "select '2026-01-01', sum(on_hand) from @snapshots where day = (select min(day) from @snapshots)",
    },
    {
      title: "the average of the days of a month",
      query: { metrics: ["typical"], by: ["time.month"] },
      sql: ({ month }) =>
        `select m, avg(v) from (select ${month("day")} m, day, 1e0 * sum(on_hand) v from @snapshots group by ${month("day")}, day) x group by m`,
    },
    {
      title: "lines of the last day",
      query: { metrics: ["lines", "snapshot_rows"] },
      sql: "select (select count(*) from @snapshots where day = '2026-03-02'), count(*) from @snapshots",
    },
    {
      title: "a range chooses the last day",
      query: { metrics: ["stock"], where: between("2026-01-01", "2026-02-28") },
      sql: "select sum(on_hand) from @snapshots where day = '2026-02-27'",
    },
    {
      title: "a filter applies before the last day is found",
      query: { metrics: ["stock"], where: [{ field: "product.name", op: "=", value: "nut" }] },
      sql: "select sum(on_hand) from @snapshots where product_id = 2 and day = '2026-02-28'",
    },
    {
      title: "a measure's own filter applies before the last day is found",
      query: { metrics: ["positive"] },
      sql: "select sum(on_hand) from @snapshots where on_hand > 0 and day = (select max(day) from @snapshots where on_hand > 0)",
    },
    {
      title: "a ratio of semi-additive measures",
      query: { metrics: ["unit_value"], by: ["time.month"] },
      sql: ({ month, div }) =>
        `select ${month("s.day")}, ${div("sum(s.value)", "sum(s.on_hand)")} from @snapshots s join (select max(day) d from @snapshots group by ${month("day")}) x on x.d = s.day group by ${month("s.day")}`,
    },
    {
      title: "stock against the month before",
      query: { metrics: ["change"], by: ["time.month"] },
      rows: [
        ["2026-01-01", 19],
        ["2026-02-01", 2 - 19],
        ["2026-03-01", 100 - 2],
      ],
    },
    {
      title: "the last balance of each account, to the second",
      query: { metrics: ["balance"] },
      sql: ({ div }) =>
        `select sum(${div("cents", "100")}) from @balances b where taken_at = (select max(taken_at) from @balances c where c.account = b.account)`,
    },
    {
      title: "balances by month",
      query: { metrics: ["balance"], by: ["time.month"] },
      sql: ({ month, div }) =>
        `select ${month("taken_at")}, sum(${div("cents", "100")}) from @balances b where taken_at = (select max(taken_at) from @balances c where c.account = b.account and ${month("c.taken_at")} = ${month("b.taken_at")}) group by ${month("taken_at")}`,
    },
    {
      title: "balances by owner follow the last row of the account",
      query: { metrics: ["balance"], by: ["balance.owner"] },
      sql: ({ div }) =>
        `select owner, sum(${div("cents", "100")}) from @balances b where taken_at = (select max(taken_at) from @balances c where c.account = b.account) group by owner`,
    },
    {
      title: "first balances",
      query: { metrics: ["first_balance"] },
      sql: ({ div }) =>
        `select sum(${div("cents", "100")}) from @balances b where taken_at = (select min(taken_at) from @balances c where c.account = b.account)`,
    },
    {
      title: "without per, all rows of the last day count",
      query: { metrics: ["day_balance"], by: ["time.month"] },
      sql: ({ month, day, div }) =>
        `select ${month("taken_at")}, sum(${div("cents", "100")}) from @balances b where ${day("taken_at")} = (select max(${day("taken_at")}) from @balances c where ${month("c.taken_at")} = ${month("b.taken_at")}) group by ${month("taken_at")}`,
    },
    {
      title: "stock and moves, two facts",
      query: { metrics: ["stock", "moved", "gap"], by: ["time.month"] },
      sql: ({ month }) =>
        `with s as (select ${month("s.day")} m, sum(s.on_hand) v from @snapshots s join (select max(day) d from @snapshots group by ${month("day")}) x on x.d = s.day group by ${month("s.day")}), v as (select ${month("moved_at")} m, sum(quantity) v from @moves group by ${month("moved_at")}) select s.m, s.v, v.v, s.v - coalesce(v.v, 0) from s left join v on v.m = s.m`,
    },
    {
      title: "empty months of a second dimension",
      query: {
        metrics: ["moved"],
        by: ["time.month", "product.name"],
        where: between("2026-01-01", "2026-04-01"),
        fill: true,
      },
      rows: [
        ["2026-01-01", "bolt", -2],
        ["2026-01-01", "nut", 5],
        ["2026-01-01", null, null],
        ["2026-02-01", "bolt", -6],
        ["2026-02-01", "nut", null],
        ["2026-02-01", null, 1],
        ["2026-03-01", "bolt", null],
        ["2026-03-01", "nut", null],
        ["2026-03-01", null, null],
      ],
    },
    {
      title: "products without stock",
      query: { metrics: ["products"], where: [{ field: "snapshot.day", op: "not_null" }] },
      sql: "select count(*) from @products p where exists (select 1 from @snapshots s where s.product_id = p.id)",
    },
  ],
};
