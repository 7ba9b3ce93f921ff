import { type Connection, type Dialect, openConnection } from "@tandem/connectors";
import type { Store } from "@tandem/storage";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ContextFolder } from "../../folder/context-folder.ts";
import { openContextFolder } from "../../folder/open-context-folder.ts";
import { CatalogueReader } from "../../catalogue/catalogue-reader.ts";
import { Metrics } from "../metrics-service.ts";
import { MetricsReader } from "../../metric-definitions/metrics-reader.ts";
import { openScratch } from "../../testing/open-scratch.ts";

const SQL = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, segment TEXT);
  INSERT INTO customers VALUES (1, 'home'), (2, 'office'), (3, NULL);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, ordered_at TEXT, cents INTEGER, status TEXT);
  INSERT INTO orders VALUES (1, 1, '2026-01-05 10:00:00', 1000, 'paid'), (2, 1, '2026-02-05 10:00:00', 2050, 'paid'),
    (3, 2, '2026-02-06 10:00:00', 500, 'paid'), (4, 3, '2026-02-07 10:00:00', 700, 'paid'), (5, 2, '2026-02-08 10:00:00', 900, 'cancelled');
  CREATE TABLE lines (order_id INTEGER, line INTEGER, product TEXT, PRIMARY KEY (order_id, line));
  INSERT INTO lines VALUES (1, 1, 'tea'), (1, 2, 'cup'), (2, 1, 'tea'), (3, 1, 'tea'), (4, 1, 'cup'), (5, 1, 'tea');
`;

const join1 = (columns: string, to: string) =>
  `joins:\n  - { columns: [${columns}], to: main.${to}, toColumns: [id], cardinality: many-to-one, origin: declared, confidence: 1 }\n`;

const table = (name: string, key: string, columns: string[], joins = "") =>
  `connection: shop\nschema: main\ntable: ${name}\ntype: table\nprimaryKey: [${key}]\ncolumns:\n${columns.map((column) => `  - ${column}\n`).join("")}${joins}`;

const column = (name: string, type = "INTEGER") => `{ name: ${name}, type: ${type} }`;

export const SHOP_FILES: Readonly<Record<string, string>> = {
  "catalogue/shop/main.customers.yaml": table("customers", "id", [
    column("id"),
    "name: segment\n    type: TEXT\n    profile:\n      samples: [home, office]\n      samplesAre: all",
  ]),
  "catalogue/shop/main.orders.yaml": table(
    "orders",
    "id",
    [column("id"), column("customer_id"), column("ordered_at", "TEXT"), column("cents"), column("status", "TEXT")],
    join1("customer_id", "customers"),
  ),
  "catalogue/shop/main.lines.yaml": table(
    "lines",
    "order_id, line",
    [column("order_id"), column("line"), column("product", "TEXT")],
    join1("order_id", "orders"),
  ),
  "metrics/shop/customer.yaml": `entity: customer
table: main.customers
grain: [id]
dimensions:
  segment: { label: Segment }
measures:
  people: { count: rows }
metrics:
  customers: { measure: people }
`,
  "metrics/shop/order.yaml": `entity: order
table: main.orders
grain: [id]
time: placed
dimensions:
  placed: { expr: ordered_at, time: day }
  status:
segments:
  real: status <> 'cancelled'
measures:
  amount: { sum: cents / 100, where: real, unit: EUR }
  count: { count: rows, where: real }
metrics:
  revenue:
    measure: amount
    label: Revenue
    description: Paid and open orders, without cancelled ones.
    owner: finance
    aka: [turnover, Umsatz]
  orders: { measure: count }
  average_order: { ratio: [revenue, orders], unit: EUR }
`,
  "metrics/shop/line.yaml": `entity: line
table: main.lines
grain: [order_id, line]
dimensions:
  product:
measures:
  count: { count: rows }
metrics:
  lines_sold: { measure: count }
`,
};

export interface MetricStage extends AsyncDisposable {
  folder: ContextFolder;
  store: Store;
  catalogue: CatalogueReader;
  reader: MetricsReader;
  metrics: Metrics;
  connections: { dialects: ReadonlyMap<string, Dialect>; open(): Promise<Connection> };
  write(path: string, text: string | null): Promise<void>;
}

/** A shop in SQLite with a catalogue and metrics; it is 15 March 2026. */
export async function openMetricStage(): Promise<MetricStage> {
  await using parts = new AsyncDisposableStack();
  const { home, store } = await openScratch(parts);
  const folder = await openContextFolder({ path: join(home, "context"), git: "own" });
  await folder.commit(
    Object.entries(SHOP_FILES).map(([path, content]) => ({ path, content, expected: null })),
    { subject: "A shop" },
  );
  const path = join(home, "shop.sqlite");
  const database = new DatabaseSync(path);
  database.exec(SQL);
  database.close();
  const connection = parts.use(await openConnection({ driver: "sqlite", path }));
  const catalogue = new CatalogueReader(folder);
  const dialects = new Map([["shop", "sqlite" as const]]);
  const reader = new MetricsReader(folder, () => dialects);
  const now = () => new Date("2026-03-15T12:00:00Z");
  const connections = { dialects, open: async () => connection };
  const metrics = new Metrics({ folder, catalogue, reader, open: connections.open, now });
  const owned = parts.move();
  return {
    folder,
    store,
    catalogue,
    reader,
    metrics,
    connections,
    write: async (file, text) => {
      const expected = (await folder.read(file)) ?? null;
      await folder.commit([{ path: file, expected, content: text }], { subject: "A change" });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
