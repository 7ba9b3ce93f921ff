import { DuckDBInstance } from "@duckdb/node-api";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyPerturbed } from "./copy-perturbed.ts";
import { openConnection } from "./open-connection.ts";

const SQL = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), status TEXT);
  CREATE TABLE lines (order_id INTEGER, no INTEGER, PRIMARY KEY (order_id, no));
  INSERT INTO customers VALUES (1, 'DE'), (2, 'SE'), (3, 'DE'), (4, NULL);
  INSERT INTO orders VALUES (10, 1, 'paid'), (11, 2, 'paid'), (12, 2, 'paid'), (13, NULL, 'paid'), (14, 4, 'paid');
  INSERT INTO lines VALUES (10, 1), (11, 1), (11, 2), (12, 1), (13, 1), (14, 1);
  CREATE VIEW paid AS SELECT * FROM orders WHERE status = 'paid';
`;

const table = (name: string) => ({ schema: "main", name });

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "tandem-copy-"));
});
afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

test.each(["sqlite", "duckdb"] as const)(
  "a copy of %s has other rows, and the original is as before",
  async (driver) => {
    const path = join(home, `shop.${driver}`);
    if (driver === "sqlite") {
      using database = new DatabaseSync(path);
      database.exec(SQL);
    } else {
      const instance = await DuckDBInstance.create(path);
      const connection = await instance.connect();
      await connection.run(SQL);
      connection.closeSync();
      instance.closeSync();
    }
    const before = await readFile(path);
    const target = join(home, `copy.${driver}`);
    await copyPerturbed({
      location: { driver, path },
      target,
      changes: [
        { table: table("customers"), every: 2, change: "remove" },
        { table: table("orders"), every: 5, change: { status: "open" } },
      ],
      references: [
        { from: table("orders"), columns: ["customer_id"], to: table("customers"), toColumns: ["id"] },
        { from: table("lines"), columns: ["order_id"], to: table("orders"), toColumns: ["id"] },
      ],
    });
    await using copy = await openConnection({ driver, path: target });
    const rowsOf = async (sql: string) => (await copy.query(sql)).rows.flat();
    expect(await rowsOf("SELECT id FROM customers ORDER BY id")).toEqual([1, 3]);
    // Orders of removed customers are gone; one without a customer stays.
    expect(await rowsOf("SELECT id FROM orders ORDER BY id")).toEqual([10, 13]);
    expect(await rowsOf("SELECT order_id FROM lines ORDER BY order_id")).toEqual([10, 13]);
    expect(await rowsOf("SELECT count(*) FROM paid")).toEqual([2]);
    expect((await readFile(path)).equals(before)).toBe(true);
  },
);
