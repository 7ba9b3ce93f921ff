import { DatabaseSync } from "node:sqlite";
import { describe, expect, inject, test } from "vitest";
import { catalogued, randomCase } from "../testing/random-case.ts";
import { randomStatement } from "../testing/random-statement.ts";
import { SHOP_SQL, SHOP_TABLES } from "../testing/shop.ts";
import { judgeSql } from "./judge-sql.ts";
import { measurementsOf, withMeasurement } from "./measure-factor.ts";
import type { Verdict } from "./verdict.ts";

const COUNT = inject("soak") ? 3_000 : 20;
const PER_CASE = 10;
const HARMLESS = new Set<string>(["proven", "lossy", "unknown_join", "deviates"]);

test("no aggregate whose rows are repeated passes for sound", async () => {
  let [proven, notJudged] = [0, 0];
  for (let seed = 1; seed <= COUNT; seed += 1) {
    const given = randomCase(seed);
    const { tables, setup } = catalogued(given, "sqlite", "main");
    const database = new DatabaseSync(":memory:");
    for (const statement of setup) database.exec(statement);
    for (let at = 0; at < PER_CASE; at += 1) {
      const { sql, repeated, isKnown } = randomStatement(given, seed * 1_000 + at);
      const { verdict, parts, reason } = await judgeSql(sql, "sqlite", async () => tables);
      const isRepeated = database.prepare(repeated).all().length > 0;
      const passes = parts.every(({ kind }) => HARMLESS.has(kind)) && verdict !== "not_judged";
      if (isRepeated) expect(passes, `seed ${seed}/${at}: ${verdict} ${reason ?? ""}\n${sql}`).toBe(false);
      if (isKnown)
        expect(
          parts.filter(({ kind }) => kind === "unknown_join"),
          sql,
        ).toEqual([]);
      if (verdict === "not_judged") notJudged += 1;
      if (verdict === "proven") proven += 1;
    }
    database.close();
  }
  // A judge that flags everything would be useless.
  expect(proven / (COUNT * PER_CASE)).toBeGreaterThan(0.4);
  expect(notJudged).toBe(0);
});

/** Judges a statement on the shop, and measures the flagged aggregates. */
async function judge(sql: string): Promise<Verdict> {
  let verdict = await judgeSql(sql, "sqlite", async () => SHOP_TABLES);
  const database = new DatabaseSync(":memory:");
  database.exec(SHOP_SQL);
  for (const measurement of measurementsOf(sql, "sqlite", verdict)) {
    verdict = withMeasurement(verdict, measurement, Object.values(database.prepare(measurement.sql).get()!));
  }
  database.close();
  return verdict;
}

describe("measured", () => {
  test("two facts of one order: both are too large, each by its own factor", async () => {
    const sql =
      "select sum(l.amount_cents), sum(p.cents), count(distinct o.id), max(p.cents) from orders o join lines l on l.order_id = o.id join payments p on p.order_id = o.id where o.status = 'done'";
    const { verdict, parts } = await judge(sql);
    expect(verdict).toBe("inflated");
    expect(parts.map(({ aggregate, factor }) => [aggregate, factor?.toFixed(3)])).toEqual([
      ["sum(l.amount_cents)", "1.366"],
      ["sum(p.cents)", "1.512"],
    ]);
  });
  test("a step that could repeat rows, and does not today", async () => {
    const { verdict, parts } = await judge(
      "select count(o.id) from orders o join payments p on p.order_id = o.id where o.id = 4",
    );
    expect(verdict).toBe("can_inflate");
    expect(parts[0]!.factor).toBe(1);
  });
  test("named queries before the SELECT stay in the measurement", async () => {
    const sql =
      "with done as (select id, customer_id from orders where status = 'done') select sum(d.id) from done d join lines l on l.order_id = d.id";
    expect((await judge(sql)).parts[0]).toMatchObject({ kind: "inflated", factor: 17 / 12 });
  });
});

describe("without running it", () => {
  test.each([
    [
      "a measure at its own grain",
      "select c.segment, sum(l.amount_cents) from lines l join orders o on o.id = l.order_id left join customers c on c.id = o.customer_id group by 1",
      "proven",
    ],
    [
      "a fact that was aggregated before",
      "select sum(o.id), sum(p.cents) from orders o left join (select order_id, sum(cents) as cents from payments group by order_id) p on p.order_id = o.id",
      "proven",
    ],
    [
      "the first row of each partition",
      "select sum(o.id) from orders o join (select * from (select order_id, cents, row_number() over (partition by order_id order by id) as n from payments) x where n = 1) p on p.order_id = o.id",
      "proven",
    ],
    [
      "one row of totals",
      "select o.id, o.id * 1.0 / t.total from orders o cross join (select sum(id) as total from orders) t",
      "proven",
    ],
    [
      "a filter by EXISTS and IN",
      "select count(*) from orders o where exists (select 1 from lines l where l.order_id = o.id) and o.id in (select order_id from payments)",
      "proven",
    ],
    [
      "distinct counts and extremes",
      "select count(distinct o.id), max(l.line) from orders o join lines l on l.order_id = o.id",
      "proven",
    ],
    [
      "a comma join by a known reference",
      "select sum(l.amount_cents) from lines l, orders o where o.id = l.order_id",
      "proven",
    ],
    ["a fan-out", "select sum(o.id) from orders o join lines l on l.order_id = o.id", "can_inflate"],
    [
      "a fan-out two steps away",
      "select sum(c.id) from customers c join orders o on o.customer_id = c.id join lines l on l.order_id = o.id",
      "can_inflate",
    ],
    [
      "a fan-out within a named query",
      "with x as (select sum(o.id) as s from orders o join lines l on l.order_id = o.id) select s from x",
      "can_inflate",
    ],
    [
      "a window over repeated rows",
      "select sum(o.id) over (partition by l.product) from orders o join lines l on l.order_id = o.id",
      "can_inflate",
    ],
    [
      "a condition of an outer join that does not restrict the others",
      "select sum(o.id) from orders o cross join customers c left join regions r on r.id = o.ship_to and c.id = o.customer_id",
      "unknown_join",
    ],
    [
      "a constant in the condition of an outer join",
      "select sum(p.id) from lines x right join payments p on p.order_id = x.order_id and p.id = 1 join lines l on l.order_id = p.order_id and l.line = x.line",
      "can_inflate",
    ],
    [
      "a join of unrelated columns",
      "select sum(o.id) from orders o join customers c on c.region_id = o.customer_id",
      "unknown_join",
    ],
    [
      "a product of two facts",
      "select sum(l.amount_cents * p.cents) from orders o join lines l on l.order_id = o.id join payments p on p.order_id = o.id",
      "wrong_grain",
    ],
    [
      "a row count that includes empty matches",
      "select c.id, count(*) from customers c left join orders o on o.customer_id = c.id group by c.id",
      "wrong_grain",
    ],
    ["a table that is not catalogued", "select count(*) from secrets", "not_judged"],
    ["a function as a table", "select sum(j.value) from orders, json_each('[1]') j", "not_judged"],
    ["several statements", "select 1; select 2", "not_judged"],
  ])("%s", async (_, sql, expected) => {
    const { verdict, parts, reason } = await judgeSql(sql, "sqlite", async () => SHOP_TABLES);
    expect(verdict, JSON.stringify({ parts, reason })).toBe(expected);
  });

  test("rows without a partner are dropped by an inner join, and a filter wants that", async () => {
    const tables = SHOP_TABLES.map((table) =>
      table.name === "orders"
        ? { ...table, joins: table.joins.map((join) => ({ ...join, hasUnmatched: true })) }
        : table,
    );
    const sql = "select count(*) from orders o join customers c on c.id = o.customer_id";
    expect(await judgeSql(sql, "sqlite", async () => tables)).toMatchObject({
      verdict: "lossy",
      parts: [{ relation: "main.orders" }],
    });
    expect(await judgeSql(`${sql} where c.segment = 'home'`, "sqlite", async () => tables)).toMatchObject({
      verdict: "proven",
    });
  });

  test("a text key that is compared with a number is not unique", async () => {
    const tables = SHOP_TABLES.map((table) =>
      table.name === "customers"
        ? {
            ...table,
            columns: table.columns.map((column) =>
              column.name === "id" ? { ...column, kind: "text" as const, type: "TEXT" } : column,
            ),
          }
        : table,
    );
    const sql = "select sum(o.id) from orders o join customers c on c.id = o.customer_id";
    expect((await judgeSql(sql, "sqlite", async () => tables)).verdict).not.toBe("proven");
  });
});
