import { expect, it } from "vitest";
import { itemPaths, listed, makeFiles, skippedCodes, textOf } from "../testing/make-files.ts";
import { readDocument } from "../read-document.ts";
import { redactPrivate, redactSql } from "./redact-sql.ts";
import { sqlTables } from "./sql-tables.ts";

it.each([
  ["select * from orders o join public.customers c on o.cid = c.id", ["orders", "public.customers"]],
  ["select 1 from a, b as x, c where a.id = b.id", ["a", "b", "c"]],
  ['select * from "Shop"."Order Lines"', ["Shop.Order Lines"]],
  ["select * from `proj.set.events`", ["proj.set.events"]],
  ["with recent as (select * from orders), big (id) as (select 1 from recent) select * from big", ["orders"]],
  ["select extract(year from placed_at) from orders where a is distinct from b", ["orders"]],
  ["select * from (select * from inner_one) x, lateral foo(1)", ["inner_one"]],
  ["select * from generate_series(1, 3)", []],
  ["insert into log select 'from nowhere' -- from comments\n from src /* from nothing */", ["log", "src"]],
  ["update orders set x = 1", ["orders"]],
  ["select * from {{ ref('stg_orders') }} join {{ source('raw', 'x') }}", ["stg_orders", "raw.x"]],
  ["select * from Zahlungsübersicht", ["Zahlungsübersicht"]],
  ["sel from", []],
])("finds the tables of %s", (sql, tables) => {
  expect(sqlTables(sql)).toEqual(tables);
});

it.each([
  ["select * from t where name = 'Ann' and id = 42 -- for Bob", "select * from t where name = ? and id = ?"],
  ["select * from t where id in (1, 2,3)", "select * from t where id in (?)"],
  ["insert into t values ('a', 1), ('b', 2)", "insert into t values (?)"],
  ["select 'it''s', 'O''Brien' from t", "select ?, ? from t"],
  [String.raw`select 'it\'s Ann' from t`, "select ? from t"],
  [String.raw`select E'\'Ann' from t`, "select ? from t"],
  ["select $$Ann's$$ from t where a = -1.5e3 and b = $1", "select ? from t where a = ? and b = $1"],
  [
    'select "Name", t."Id" from "T" where x = "Ann" or y in ("a", "b")',
    'select "Name", t."Id" from "T" where x = ? or y in (?)',
  ],
  ['select * from t where lower(mail) = lower("ann@shop.test")', "select * from t where lower(mail) = lower(?)"],
  ["select 'never ends from t where ssn = 123", "select ?"],
  ["select a1, b_2 from t3;", "select a1, b_2 from t3"],
])("removes the values from %s", (sql, redacted) => {
  expect(redactSql(sql)).toBe(redacted);
});

it.each([
  [
    "select a, sum(b) from t group by 1 order by 2 desc limit 10",
    "select a, sum(b) from t group by 1 order by 2 desc limit ?",
  ],
  ["select * from t group by 1,2, x having count(*) > 3", "select * from t group by 1,2, x having count(*) > ?"],
  ["select f(x order by 1) from t order by 1 + 1, 700123, 2", "select f(x order by 1) from t order by ? + ?, ?, 2"],
  [
    "select * from t where a in (select 5 from u group by 1) order by 1 nulls last",
    "select * from t where a in (select ? from u group by 1) order by 1 nulls last",
  ],
])("keeps the positions of columns: %s", (sql, expected) => expect(redactSql(sql)).toBe(expected));

it("keeps definitions in curated SQL, but no addresses, personal numbers or keys", () => {
  const sql =
    "-- ask ann@shop.test\nselect * from t where status = 'paid' and mail = 'bob@shop.test' and phone = '+41 79 123 45 67' and n = 3 and d > '2024-01-01' and key = 'sk-abcdefghijklmnop'";
  expect(redactPrivate(sql)).toBe(
    "-- ask ?\nselect * from t where status = 'paid' and mail = ? and phone = ? and n = 3 and d > '2024-01-01' and key = ?",
  );
});

it("shows a SQL file with its comment and tables", async () => {
  const sql = "-- Revenue per week,\n-- without refunds.\nselect 1 from orders";
  const document = await readDocument({ type: "sql", path: "weekly_revenue.sql" }, new TextEncoder().encode(sql));
  expect(document.title).toBe("weekly revenue");
  expect(document.markdown).toContain("Revenue per week,\nwithout refunds.\n\nTables: `orders`.");
  expect(document.markdown).toContain("```sql\n-- Revenue");
});

const HISTORY = `query,calls,usename
"select * from orders o join customers c on c.id = o.cid where c.mail = 'ann@shop.test'",412,ann
"select * from orders o join customers c on c.id = o.cid where c.mail = 'bob@shop.test'",20,bob
"select count(*) from ORDERS",1,ann
select 1,5,ann
`;

it("groups query history by table, without values and people's names", async () => {
  await using files = await makeFiles({
    "a.csv": HISTORY,
    "b.jsonl": '{"sql": "select x from stock where id = 7"}\n\n',
    "c.sql": "select 1 from d",
  });
  const entries = await listed(files.source({ type: "sql" }));
  expect(itemPaths(entries).toSorted()).toEqual(["c.sql", "history/orders.md", "history/stock.md"]);
  const orders = await textOf(entries, "history/orders.md");
  expect(orders).toContain("- `customers`: about 400 times");
  expect(orders).toContain(
    "Asked about 400 times by 2 users:\n\n```sql\nselect * from orders o join customers c on c.id = o.cid where c.mail = ?\n```",
  );
  expect(orders).not.toMatch(/ann|bob/);
  // A few more of the same query change nothing.
  await files.write("a.csv", HISTORY.replace("412", "431"));
  expect(await textOf(await listed(files.source({ type: "sql" })), "history/orders.md")).toBe(orders);
});

it("skips an export without queries, text or JSON", async () => {
  await using files = await makeFiles({
    "a.csv": "name,age\nann,3\n",
    "b.csv": Buffer.from([0x71, 0xff, 0xfe]),
    "c.jsonl": "{",
    "d.csv": "sql\nselect 1 from d\n",
  });
  const entries = await listed(files.source({ type: "sql" }));
  expect(skippedCodes(entries)).toEqual({ "a.csv": "no_queries", "b.csv": "not_text", "c.jsonl": "broken" });
  expect(itemPaths(entries)).toEqual(["history/d.md"]);
  // Missing queries may come from these exports.
  expect(entries.filter((entry) => entry.type === "skipped").map(({ hides }) => hides)).toEqual(
    Array(3).fill("history/"),
  );
});
