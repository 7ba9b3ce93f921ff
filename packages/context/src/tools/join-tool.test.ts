import type { Connection } from "@tandem/connectors";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { JoinEntry, TableFile } from "../catalogue/table-file.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { joinTool, type JoinToolParts } from "./join-tool.ts";

const SHOP = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, billed_to INTEGER, shipped_to INTEGER, part_of INTEGER, fee REAL);
  CREATE TABLE lines (order_id INTEGER, sku TEXT);
  CREATE TABLE payments (order_id INTEGER PRIMARY KEY, amount_cents INTEGER);
  CREATE TABLE products (no INTEGER PRIMARY KEY);
  INSERT INTO customers VALUES (1, 'a'), (2, 'b');
  INSERT INTO orders VALUES (1, 1, 2, NULL, 1.5), (2, 1, 1, 1, 2.5), (3, NULL, NULL, 1, 3.5);
  INSERT INTO lines VALUES (1, '0007'), (1, '0008'), (1, '0009'), (2, '0007');
  INSERT INTO payments VALUES (1, 500), (2, 100);
  INSERT INTO products VALUES (7), (8), (9);
`;

const database = new DatabaseSync(":memory:");
database.exec(SHOP);
const connection = {
  dialect: "sqlite",
  query: async (sql: string) => ({
    rows: database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)),
  }),
} as unknown as Connection;

const file = (table: string, joins: Partial<JoinEntry>[] = []): TableFile => ({
  connection: "shop",
  schema: "main",
  table,
  type: "table",
  rows: Number(Object.values(database.prepare(`SELECT count(*) FROM ${table}`).get()!)[0]),
  columns: database
    .prepare("SELECT name, type FROM pragma_table_info(?)")
    .all(table)
    .map(({ name, type }) => ({
      name: String(name),
      type: String(type),
      ...(name === "billed_to" && { profile: { nulls: 0.333 } }),
      ...(name === "sku" && { profile: { samples: ["0007"] } }),
    })),
  joins: joins.map((join) => ({
    columns: ["order_id"],
    to: "main.orders",
    toColumns: ["id"],
    cardinality: "many-to-one",
    origin: "data",
    confidence: 0.95,
    ...join,
  })),
});

const toCustomers = (column: string) => ({ columns: [column], to: "main.customers", confidence: 0.97 });
const FILES = [
  file("customers"),
  file("orders", [toCustomers("billed_to"), { columns: ["part_of"] }]),
  file("lines", [{}, { columns: ["sku"], to: "main.products", toColumns: ["no"] }]),
  file("payments", [{ cardinality: "one-to-one" }]),
  file("products"),
];

function ask(input: object, { files = FILES, isOffline = false, ...more }: Partial<JoinToolParts> & Extra = {}) {
  const named = (name: string) => files.find(({ table }) => table === name)!;
  const catalogue = {
    find: async (name: string) => named(name),
    read: async ({ table }: { table: string }) => named(table),
    outlines: async () => files,
  } as unknown as CatalogueReader;
  const connections = {
    dialects: new Map([["shop", "sqlite" as const]]),
    open: async () => (isOffline ? Promise.reject(new Error("down")) : connection),
  };
  return joinTool({ catalogue, connections, ...more }).run(input, { by: "test", signal: AbortSignal.timeout(9_000) });
}
interface Extra {
  files?: TableFile[];
  isOffline?: boolean;
}

test("names every table upstream of a fan-out, with the measured factors of rows and sums", async () => {
  const { structured, markdown } = await ask({ from: "payments", to: "lines" });
  expect(structured).toMatchObject({
    inflated: [
      { table: "main.payments", reason: "fan-out", rowsFactor: 2, sumFactor: 2.67, sumColumn: "amount_cents" },
      { table: "main.orders", reason: "fan-out", rowsFactor: 2, sumFactor: 1.75, sumColumn: "fee", measured: true },
    ],
    dropped: [{ table: "main.orders", to: "main.lines", rows: 1, of: 3, measured: true }],
  });
  expect(markdown).toContain("sum(payments.amount_cents) is 2.67 times its true value");
});

test("says how many rows an inner join drops; without the database, about how many", async () => {
  const exact = await ask({ from: "orders", to: "customers" });
  expect(exact.markdown).toContain("drops 1 of 3 rows of orders");
  expect(exact.markdown).toContain("LEFT JOIN");
  const stored = await ask({ from: "orders", to: "customers" }, { isOffline: true });
  expect(stored.markdown).toContain("drops ≈1 of 3 rows of orders");
  const fanOut = await ask({ from: "orders", to: "lines" }, { isOffline: true });
  expect(fanOut.structured).toMatchObject({ inflated: [{ rowsFactor: 1.3, sumFactor: null, measured: false }] });
  expect(fanOut.markdown).toContain("≈1.3 times");
});

test("joins a table with itself under a second name", async () => {
  const { structured } = await ask({ from: "orders", to: "orders" });
  expect(structured).toMatchObject({
    sql: "FROM main.orders\nJOIN main.orders AS orders_2 ON main.orders.part_of = orders_2.id",
    dropped: [{ rows: 1, of: 3 }],
  });
  await expect(ask({ from: "customers", to: "customers" })).rejects.toMatchObject({ code: "not_found" });
});

test("lists the choices and chooses none, until a column is named", async () => {
  const roles = file("orders", [toCustomers("billed_to"), toCustomers("shipped_to")]);
  const files = [...FILES.filter(({ table }) => table !== "orders"), roles];
  const { structured, markdown } = await ask({ from: "lines", to: "customers" }, { files });
  expect(structured).toMatchObject({
    steps: [],
    sql: "",
    choices: [{ via: "orders.billed_to" }, { via: "orders.shipped_to" }],
  });
  expect(markdown).toContain("main.orders.shipped_to = main.customers.id");
  for (const via of ["orders.shipped_to", "shipped_to", "main.orders.shipped_to"]) {
    const one = await ask({ from: "lines", to: "customers", via }, { files });
    expect(one.structured).toMatchObject({ sql: expect.stringContaining("shipped_to"), choices: [] });
  }
  await expect(ask({ from: "lines", to: "customers", via: "nothing" }, { files })).rejects.toMatchObject({
    fix: expect.stringContaining("orders.billed_to, orders.shipped_to"),
  });
});

test("compares padded text with numbers as numbers", async () => {
  const { structured } = await ask({ from: "lines", to: "products" });
  expect(structured).toMatchObject({
    sql: "FROM main.lines\nJOIN main.products ON CAST(main.lines.sku AS BIGINT) = main.products.no",
    dropped: [],
  });
});

test("mentions a direct join under review beside a detour, but none in quarantine or rejected", async () => {
  const after = `connection: shop\nschema: main\ntable: payments\ntype: table\ncolumns: []\njoins:\n  - columns: [payer]\n    to: main.customers\n    toColumns: [id]\n    cardinality: many-to-one\n    origin: data\n    confidence: 0.62\n`;
  const proposals = (state: string, quarantine: string | null): JoinToolParts["proposals"] => {
    const hunks = [{ state, newLines: after.split("\n") }];
    const page = { proposal: { quarantine, changes: [{ after, hunks }] } };
    return {
      waiting: async (path: string) => new Map(path.includes("payments") ? [[path, "p1"]] : []),
      page: async () => page,
    } as unknown as JoinToolParts["proposals"];
  };
  const path = { from: "payments", to: "customers" };
  const { structured, markdown } = await ask(path, { proposals: proposals("open", null) });
  expect(structured["underReview"]).toEqual([{ condition: "payments.payer = customers.id", confidence: 0.62 }]);
  expect(markdown).toContain("under review: payments.payer = customers.id");
  for (const other of [proposals("rejected", null), proposals("open", "suspicious")]) {
    expect((await ask(path, { proposals: other })).structured["underReview"]).toEqual([]);
  }
});
