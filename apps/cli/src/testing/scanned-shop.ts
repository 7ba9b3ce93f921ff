import { mkdir, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { afterAll } from "vitest";
import { scratchMachine } from "./run-tandem.ts";

/** Adds a small database and a page to a machine's project, for a config with the connection `shop`. */
export async function makeShop(folder: { join: (...names: string[]) => string }): Promise<void> {
  const database = new DatabaseSync(folder.join("project", "shop.sqlite"));
  database.exec(`
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), note TEXT);
    INSERT INTO customers VALUES (1, 'Ada', 'Bern'), (2, 'Grace', 'Zürich'), (3, 'Edsger', 'Bern');
    INSERT INTO orders VALUES (1, 1, 'by post'), (2, 1, NULL), (3, 3, 'by, "bike"');
  `);
  database.close();
  await mkdir(folder.join("project", "context", "wiki"), { recursive: true });
  const page = "---\nsummary: When money goes back.\n---\n\n# Refunds\n\nWithin 30 days of delivery.\n";
  await writeFile(folder.join("project", "context", "wiki", "refunds.md"), page);
}

/** A scratch machine whose project has a scanned shop, for all tests of a file. */
export async function scannedMachine() {
  const machine = await scratchMachine(SHOP_CONFIG);
  afterAll(() => machine[Symbol.asyncDispose]());
  await makeShop(machine.folder);
  await machine.trust();
  const { code, stderr } = await machine.run(["context", "scan"]);
  if (code !== 0) throw new Error(stderr);
  return machine;
}

export const SHOP_CONFIG = "connections: { shop: { driver: sqlite, path: shop.sqlite } }\n";
