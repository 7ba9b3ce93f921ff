import { openConnection } from "@tandem/connectors";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, inject, test } from "vitest";
import { openContextFolder } from "../folder/open-context-folder.ts";
import { MetricsReader } from "../metric-definitions/metrics-reader.ts";
import { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { judgeQuery } from "./judge-query.ts";

const table = (name: string, rest: string) => ({
  path: `catalogue/sales/main.${name}.yaml`,
  content: `connection: sales\nschema: main\ntable: ${name}\ntype: table\n${rest}\n`,
  expected: null,
});
const join_ = (column: string, to: string, toColumn: string) =>
  `joins: [{ columns: [${column}], to: main.${to}, toColumns: [${toColumn}], cardinality: many-to-one, origin: declared, confidence: 1 }]`;

const FILES = [
  table(
    "receipts",
    `primaryKey: [id]\ncolumns: [{ name: id, type: INTEGER }, { name: total, type: INTEGER }, { name: shop, type: TEXT }, { name: status, type: TEXT }]\n${join_("shop", "shops", "code")}`,
  ),
  table(
    "items",
    `primaryKey: [id]\ncolumns: [{ name: id, type: INTEGER }, { name: receipt_id, type: INTEGER }]\n${join_("receipt_id", "receipts", "id")}`,
  ),
  table("shops", "columns: [{ name: code, type: TEXT }]\nverifiedKeys: [{ columns: [code], of: all }]"),
  {
    path: "metrics/sales/receipt.yaml",
    content:
      "entity: receipt\ntable: main.receipts\ngrain: [id]\nmeasures: { total: { sum: total, where: \"status <> 'void'\" } }\nmetrics: { takings: { measure: total } }\n",
    expected: null,
  },
];

let home: string;
beforeEach(async () => {
  home = await scratchFolder();
});

/** A catalogue and a database with the given tables, and how to judge a statement with them. */
async function judging(extra = "") {
  const path = join(home, "sales.sqlite");
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE receipts (id INTEGER PRIMARY KEY, total INTEGER, shop TEXT, status TEXT);
    INSERT INTO receipts VALUES (1, 30, 'a', 'paid'), (2, 10, 'b', 'paid');
    CREATE TABLE items (id INTEGER PRIMARY KEY, receipt_id INTEGER);
    INSERT INTO items VALUES (1, 1), (2, 1), (3, 1), (4, 2);
    CREATE TABLE shops (code TEXT); INSERT INTO shops VALUES ('a'), ('b'); ${extra}`);
  database.close();
  const folder = await openContextFolder({ path: join(home, "context"), git: "own" });
  await folder.commit(FILES, { subject: "Sales" });
  const reader = new MetricsReader(folder, () => new Map([["sales", "sqlite"]]));
  const model = (await reader.read("sales"))?.model;
  const catalogue = new CatalogueReader(folder);
  return async (sql: string) => {
    await using connection = await openConnection({ driver: "sqlite", path });
    const signal = AbortSignal.timeout(20_000 * inject("slowness"));
    const verdict = await judgeQuery({ catalogue, model, name: "sales", connection, sql, measures: true, signal });
    const rows = verdict.rewrite === undefined ? undefined : (await connection.query(verdict.rewrite, { signal })).rows;
    return { ...verdict, rows };
  };
}

const BY_SHOP = "select sum(r.total) from receipts r join shops s on s.code = r.shop where r.status <> 'void'";

test("a key without a constraint counts while the data agrees", async () => {
  expect(await (await judging())(BY_SHOP)).toMatchObject({ verdict: "proven", parts: [] });
});

test("a key that is no longer unique is not trusted, and what it inflates is measured", async () => {
  const judge = await judging("INSERT INTO shops VALUES ('a');");
  const { verdict, parts } = await judge(BY_SHOP);
  expect(verdict).toBe("inflated");
  expect(parts[0]).toMatchObject({
    factor: 1.75,
    message: /\(code\) of main\.shops was unique at the last scan and no longer is/,
  });
});

test("texts that SQLite compares by another collation are not trusted", async () => {
  const judge = await judging("CREATE UNIQUE INDEX one ON shops (code COLLATE BINARY);");
  expect((await judge(BY_SHOP)).verdict).not.toBe("proven");
});

test("a rewritten statement runs and is right, and a metric is named", async () => {
  const judge = await judging();
  const sql =
    "select r.shop, sum(r.total) as total from receipts r join items i on i.receipt_id = r.id group by r.shop order by 1";
  expect(await judge(sql)).toMatchObject({
    verdict: "inflated",
    parts: [
      { kind: "inflated", aggregate: "sum(r.total)", factor: 2.5 },
      { kind: "deviates", metric: "takings", message: /no `status <> 'void'`/ },
    ],
    rows: [
      ["a", 30],
      ["b", 10],
    ],
  });
});

test("a statement that measures a metric is answered by it", async () => {
  const judge = await judging();
  const sql = "select sum(r.total) from receipts r join items i on i.receipt_id = r.id where r.status <> 'void'";
  expect((await judge(sql)).instead).toMatchObject({ metrics: ["takings"], by: [], where: [] });
});
