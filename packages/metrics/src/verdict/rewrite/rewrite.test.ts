import { DatabaseSync } from "node:sqlite";
import { expect, inject, test } from "vitest";
import { catalogued, randomCase } from "../../testing/random-case.ts";
import { randomStatement } from "../../testing/random-statement.ts";
import { SHOP_SQL, SHOP_TABLES, shopModel } from "../../testing/shop.ts";
import { prepareSql } from "../judge-sql.ts";

const COUNT = inject("soak") ? 1_500 : 15;

async function repaired(sql: string, model = shopModel()) {
  const prepared = await prepareSql(sql, "sqlite");
  if ("reason" in prepared) throw new Error(prepared.reason);
  return prepared.repair(SHOP_TABLES, model);
}

function ask(sql: string): unknown[][] {
  const database = new DatabaseSync(":memory:");
  database.exec(SHOP_SQL);
  const rows = database
    .prepare(sql)
    .all()
    .map((row) => Object.values(row));
  database.close();
  return rows;
}

test("each fact is counted at its own grain", async () => {
  const sql =
    "select o.status as s, sum(l.amount_cents) as lines, sum(p.cents) as paid, count(distinct o.id) as n from orders o join lines l on l.order_id = o.id join payments p on p.order_id = o.id group by o.status having sum(p.cents) > 0 order by paid desc limit 10";
  const { rewrite } = await repaired(sql);
  expect(ask(sql)).toEqual([["done", 5_600, 6_200, 3]]);
  expect(rewrite).toMatchInlineSnapshot(`
    "WITH tandem_1 AS (
      SELECT DISTINCT o.status AS g1, l."order_id" AS k1, l."line" AS k2, l.amount_cents AS v1
      from orders o join lines l on l.order_id = o.id join payments p on p.order_id = o.id
    ), tandem_2 AS (
      SELECT DISTINCT o.status AS g1, p."id" AS k1, p.cents AS v2
      from orders o join lines l on l.order_id = o.id join payments p on p.order_id = o.id
    ), tandem_3 AS (
      SELECT DISTINCT o.status AS g1, o."id" AS k1, o.id AS v3
      from orders o join lines l on l.order_id = o.id join payments p on p.order_id = o.id
    ), tandem_all AS (
      SELECT g1, v1, NULL AS v2, NULL AS v3 FROM tandem_1
      UNION ALL
      SELECT g1, NULL AS v1, v2, NULL AS v3 FROM tandem_2
      UNION ALL
      SELECT g1, NULL AS v1, NULL AS v2, v3 FROM tandem_3
    )
    SELECT g1 AS "s", SUM(v1) AS "lines", SUM(v2) AS "paid", COUNT(DISTINCT v3) AS "n"
    FROM tandem_all
    GROUP BY g1
    HAVING (SUM(v2) > 0)
    ORDER BY paid DESC
    LIMIT 10"
  `);
  expect(ask(rewrite!)).toEqual([["done", 4_100, 4_100, 3]]);
});

test("a row count after a left join leaves out empty matches", async () => {
  const sql = "select c.id, count(*) as n from customers c left join orders o on o.customer_id = c.id group by c.id";
  const { rewrite } = await repaired(sql);
  expect(ask(rewrite!)).toEqual(
    ask("select c.id, count(o.id) from customers c left join orders o on o.customer_id = c.id group by c.id"),
  );
});

test("a metric query answers the question, where there is one", async () => {
  const sql =
    "select l.product, sum(l.amount_cents / 100) from lines l join orders o on o.id = l.order_id join payments p on p.order_id = o.id where o.status = 'done' group by l.product";
  expect((await repaired(sql)).instead).toMatchObject({
    metrics: ["revenue"],
    by: ["line.product"],
    where: [{ field: "order.status", op: "=", value: "done" }],
  });
  expect((await repaired(sql.replace("l.amount_cents / 100", "l.amount_cents"))).instead).toBeUndefined();
});

test.each([
  ["groups overlap", "select l.product, sum(o.id) from orders o join lines l on l.order_id = o.id group by l.product"],
  [
    "two facts are multiplied",
    "select sum(l.amount_cents * p.cents) from orders o join lines l on l.order_id = o.id join payments p on p.order_id = o.id",
  ],
  ["the join is not known", "select sum(o.id) from orders o join customers c on c.region_id = o.customer_id"],
  ["a window", "select sum(o.id) over (partition by l.product) from orders o join lines l on l.order_id = o.id"],
])("no rewrite if %s", async (_, sql) => {
  expect((await repaired(sql)).rewrite).toBeUndefined();
});

test("on random data, a rewritten statement counts each row once", async () => {
  let rewritten = 0;
  for (let seed = 1; seed <= COUNT; seed += 1) {
    const given = randomCase(seed);
    const { tables, setup } = catalogued(given, "sqlite", "main");
    const database = new DatabaseSync(":memory:");
    for (const statement of setup) database.exec(statement);
    for (let at = 0; at < 10; at += 1) {
      const { sql, plain } = randomStatement(given, seed * 1_000 + at);
      const prepared = await prepareSql(sql, "sqlite");
      if ("reason" in prepared) throw new Error(prepared.reason);
      if (!prepared.judge(tables).parts.some(({ kind }) => kind === "can_inflate" || kind === "wrong_grain")) continue;
      const { rewrite } = await prepared.repair(tables);
      if (rewrite === undefined) continue;
      rewritten += 1;
      const actual = database.prepare(rewrite).all().map(Object.values);
      expect(sorted(actual), `seed ${seed}/${at}\n${rewrite}`).toEqual(sorted(truth(database, plain)));
    }
    database.close();
  }
  expect(rewritten).toBeGreaterThan(COUNT / 4);
});

/** Counts each row of the aggregated table once per group, in memory. */
function truth(database: DatabaseSync, plain: { rows: string; aggregate: string; keys: number }): unknown[][] {
  const groups = new Map<unknown, Map<string, number | null>>();
  for (const row of database.prepare(plain.rows).all()) {
    const [group, value, ...key] = Object.values(row);
    const members = groups.get(group) ?? new Map<string, number | null>();
    // Rows that an outer join left empty have the key of a group of NULLs.
    members.set(JSON.stringify(key.includes(null) ? [key, value] : key), value as number | null);
    groups.set(group, members);
  }
  if (groups.size === 0 && !plain.rows.includes("/* grouped */")) groups.set(0, new Map());
  return [...groups].map(([group, members]) => {
    const values = [...members.values()].filter((value) => value !== null);
    const sum = values.reduce((total, value) => total + value, 0);
    const result =
      plain.aggregate === "count"
        ? values.length
        : values.length === 0
          ? null
          : plain.aggregate === "sum"
            ? sum
            : sum / values.length;
    return plain.rows.includes("/* grouped */") ? [group, result] : [result];
  });
}

const sorted = (rows: unknown[][]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();
