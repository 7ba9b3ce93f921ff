import type { Dialect } from "@tandem/connectors";
import { describe, expect, test } from "vitest";
import type { CataloguedTable } from "../model/catalogued-table.ts";
import { SHOP_TABLES } from "../testing/shop.ts";
import { judgeSql } from "./judge-sql.ts";

const OL = "orders o join lines l on l.order_id = o.id";

/** Statements that count a row twice, or could, in ways that a judge overlooks easily. */
const ATTACKS: Record<string, [Dialect, string][]> = {
  "the join is in a subquery": [
    ["sqlite", `with x as (select o.id, o.ship_to from ${OL}) select sum(ship_to) from x`],
    ["sqlite", `select sum(x.ship_to) from (select o.ship_to + 1 as ship_to from ${OL}) x`],
    [
      "sqlite",
      `with x as (select o.*, l.line from ${OL}), y as (select * from x where line > 0) select avg(ship_to) from y`,
    ],
    [
      "sqlite",
      `select sum(m) from (select o.id, l.product, max(o.ship_to) as m from ${OL} group by o.id, l.product) x`,
    ],
    ["sqlite", `select sum(ship_to) from (select distinct o.id, o.ship_to, l.product from ${OL}) x`],
  ],
  "a value of an outer row in a subquery": [
    ["sqlite", `select sum((select c.region_id from customers c where c.id = o.customer_id)) from ${OL}`],
    [
      "sqlite",
      `select sum(v) from (select l.line, (select c.region_id from customers c where c.id = o.customer_id) v from ${OL}) x`,
    ],
  ],
  "the condition has the finer grain": [
    ["duckdb", `select sum(o.ship_to) filter (where l.product = 'tea') from ${OL}`],
    ["sqlite", `select sum(case when l.product = 'tea' then o.ship_to end) from ${OL}`],
    ["sqlite", `select sum(o.ship_to * (l.product = 'tea')) from ${OL}`],
    ["sqlite", `select sum(o.ship_to - l.amount_cents) from ${OL}`],
    ["mysql", `select sum(if(l.product = 'tea', o.ship_to, 0)) from ${OL}`],
  ],
  "values outside of the parentheses of an aggregate": [
    ["postgres", `select percentile_cont(0.5) within group (order by o.ship_to) from ${OL}`],
    ["postgres", `select count(o.*) from ${OL}`],
    ["postgres", `select mode() within group (order by o.ship_to) from ${OL}`],
  ],
  "a function that may be an aggregate": [
    ["postgres", `select my_sum(o.ship_to) from ${OL}`],
    ["postgres", `select stats.my_sum(o.ship_to) from ${OL}`],
    ["duckdb", `select weighted_avg(o.ship_to, 1) from ${OL}`],
  ],
  "subtotals and windows are summed again": [
    ["duckdb", "select sum(s) from (select product, sum(amount_cents) s from lines group by rollup(product)) x"],
    ["mysql", "select sum(s) from (select product, sum(amount_cents) s from lines group by product with rollup) x"],
    [
      "postgres",
      "select sum(s) from (select product, sum(amount_cents) s from lines group by grouping sets ((product), ())) x",
    ],
    ["sqlite", "select sum(s) from (select order_id, sum(amount_cents) over (partition by order_id) s from lines) x"],
    [
      "sqlite",
      "select sum(s) from (select first_value(amount_cents) over (partition by order_id order by line) s from lines) x",
    ],
  ],
  "both parts of UNION ALL read the same rows": [
    ["sqlite", "select sum(x) from (select cents as x from payments union all select cents from payments) u"],
    [
      "sqlite",
      "select sum(x) from (select cents as x from payments where id > 1 union all select cents from payments where id < 3) u",
    ],
  ],
  "a query that is no longer unique": [
    [
      "sqlite",
      "select sum(o.id) from orders o join (select order_id, row_number() over w as n from payments window w as (partition by order_id)) p on p.n = 1 and p.order_id = o.id join lines l on l.line = p.n",
    ],
    [
      "postgres",
      "select sum(o.id) from orders o join (select id, row_number() over w as n from payments window w as (partition by order_id)) p on p.n = o.id",
    ],
    [
      "duckdb",
      "select sum(o.id) from orders o join (select order_id, cents, sum(id) s from payments group by all) p on p.order_id = o.id",
    ],
    ["duckdb", "select sum(o.id) from orders o cross join (select cents, sum(id) s from payments group by all) p"],
    ["duckdb", "select sum(o.id) from orders o cross join (select id from payments limit 1%) p"],
    [
      "sqlite",
      "select sum(o.id) from orders o join (select distinct p.order_id as k, p.id as k from payments p) x on x.k = o.id",
    ],
    [
      "postgres",
      "select sum(o.id) from orders o join (select order_id from payments order by 1 fetch first 1 rows with ties) p on true",
    ],
  ],
  "one name for two things": [
    [
      "sqlite",
      "with a as (select * from orders), orders as (select p.order_id as id from payments p) select sum(l.amount_cents) from lines l join a on a.id = l.order_id",
    ],
    [
      "postgres",
      "with recursive a as (select * from orders), orders as (select p.order_id as id from payments p) select sum(l.amount_cents) from lines l join a on a.id = l.order_id",
    ],
    [
      "postgres",
      `with "X" as (select id from orders), x as (select order_id as id from payments) select sum(l.amount_cents) from lines l join x on x.id = l.order_id`,
    ],
    [
      "postgres",
      `with orders as (select order_id as id from payments) select sum(l.amount_cents) from lines l join orders o on o.id = l.order_id`,
    ],
    ["postgres", `select sum(l.amount_cents) from lines l join "Orders" o on o.id = l.order_id`],
    ["duckdb", `select sum(l.amount_cents) from lines l join other.main.orders o on o.id = l.order_id`],
  ],
  "a comparison that makes different keys equal": [
    ["mysql", "select sum(s.on_hand) from stock s join stock t on t.product = true and t.day = s.day"],
    [
      "duckdb",
      "select sum(o.id) from orders o join (select product || '' as k, sum(on_hand) from stock group by 1) s on s.k = o.id",
    ],
    ["postgres", "select sum(o.id) from orders o join lines l on l.order_id is not distinct from o.id and l.line = 1"],
    [
      "sqlite",
      "select o.id, (select sum(s.on_hand) from stock s join stock t on t.product = o.id and t.day = s.day) from orders o",
    ],
  ],
  "a part of a composite key": [
    ["sqlite", "select sum(p.cents) from payments p join lines l on l.order_id = p.order_id"],
    ["sqlite", "select sum(p.cents) from payments p left join lines l on l.order_id = p.order_id and p.id = 1"],
    ["sqlite", "select sum(p.cents) from payments p join lines l using (order_id)"],
    ["sqlite", "select sum(p.cents) from payments p natural join lines l"],
  ],
  "a self join": [
    ["sqlite", "select sum(a.id) from orders a join orders b on b.customer_id = a.customer_id"],
    ["sqlite", "select sum(a.id) from orders a, orders b where b.customer_id = a.customer_id"],
  ],
  "a lateral query of several rows": [
    [
      "postgres",
      "select sum(o.id) from orders o cross join lateral (select l.line from lines l where l.order_id = o.id) x",
    ],
    [
      "postgres",
      "select sum(o.id) from orders o cross join lateral (select l.line from lines l where l.order_id = o.id limit 2) x",
    ],
  ],
};

describe.each(Object.keys(ATTACKS))("%s", (name) => {
  test.each(ATTACKS[name]!)("%s: %s", async (dialect, sql) => {
    const { verdict, parts, reason } = await judgeSql(sql, dialect, async () => SHOP_TABLES);
    const doubts = parts.filter(({ kind }) => kind === "can_inflate" || kind === "wrong_grain");
    expect(verdict === "not_judged" || doubts.length > 0, `${verdict} ${reason ?? ""}`).toBe(true);
  });
});

const with_ = (name: string, change: (table: CataloguedTable) => Partial<CataloguedTable>): CataloguedTable[] =>
  SHOP_TABLES.map((table) => (table.name === name ? { ...table, ...change(table) } : table));

describe("facts of the catalogue", () => {
  test.each<[string, Dialect, CataloguedTable[], string]>([
    [
      "a number with a fraction is rounded before it is compared",
      "postgres",
      with_("customers", ({ columns }) => ({
        columns: columns.map((column) =>
          column.name === "id" ? { ...column, type: "double precision", kind: "decimal" } : column,
        ),
      })),
      "select sum(o.id) from orders o join customers c on c.id = o.customer_id",
    ],
    [
      "texts are compared by another collation than that of the key",
      "sqlite",
      with_("stock", ({ columns }) => ({
        columns: columns.map((column) => ({ ...column, hasCollation: true })),
        keys: [["product"]],
      })),
      "select sum(l.amount_cents) from lines l join stock s on s.product = l.product",
    ],
    [
      "columns differ only in case",
      "postgres",
      with_("customers", ({ columns }) => ({
        columns: [...columns, { name: "ID", type: "integer", kind: "integer" }],
      })),
      `select sum(o.id) from orders o join customers c on c."ID" = o.customer_id`,
    ],
  ])("%s", async (_, dialect, tables, sql) => {
    expect((await judgeSql(sql, dialect, async () => tables)).verdict).not.toBe("proven");
  });
});

test.each<[string, Dialect, string]>([
  [
    "distinct rows of a joined query, by their key",
    "sqlite",
    `with x as (select o.id, o.ship_to, l.line from ${OL}) select sum(ship_to) from (select distinct id, ship_to from x) y`,
  ],
  [
    "parts of UNION ALL that cannot overlap",
    "sqlite",
    "select sum(x) from (select cents as x from payments where order_id = 1 union all select cents from payments where order_id = 2) u",
  ],
  [
    "columns that a named query renames",
    "postgres",
    "with x(k, total) as (select order_id, sum(cents) from payments group by order_id) select sum(o.id), sum(x.total) from orders o left join x on x.k = o.id",
  ],
  [
    "GROUP BY ALL",
    "duckdb",
    "select sum(o.id) from orders o join (select order_id, sum(id) s from payments group by all) p on p.order_id = o.id",
  ],
  [
    "a lateral query of one row",
    "postgres",
    "select sum(o.id) from orders o left join lateral (select l.line from lines l where l.order_id = o.id order by l.line limit 1) x on true",
  ],
  [
    "a value of the finest table, chosen by a condition on another",
    "sqlite",
    `select sum(case when o.status = 'done' then l.amount_cents else 0 end) from ${OL}`,
  ],
  ["a product of a line and a rate of its order", "sqlite", `select sum(l.amount_cents * o.ship_to) from ${OL}`],
])("sound: %s", async (_, dialect, sql) => {
  const { verdict, parts, reason } = await judgeSql(sql, dialect, async () => SHOP_TABLES);
  expect(verdict, JSON.stringify({ parts, reason })).toBe("proven");
});
