import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILES: Readonly<Record<string, string>> = {
  "order.yaml": `entity: order
table: main.orders
grain: [id]
time: placed
dimensions:
  placed: { expr: placed_at, time: day, label: Placed }
  status: { label: Status }
segments:
  real: status <> 'cancelled'
measures:
  real: { count: rows, where: real }
metrics:
  orders: { measure: real, label: Orders, owner: Sales }
  late_orders: { measure: late, label: Late orders }
`,
  "line.yaml": `entity: line
table: main.order_lines
grain: [order_id, line_no]
time: placed
dimensions:
  placed: { expr: order.placed_at, time: day, label: Placed }
measures:
  amount: { sum: quantity * unit_price_cents / 100, where: order.status <> 'cancelled', unit: EUR }
metrics:
  revenue:
    measure: amount
    label: Revenue
    owner: Finance
    page: metrics/active-customer
    aka: [turnover, Umsatz]
  order_value: { ratio: [revenue, orders], label: Order value, unit: EUR }
`,
  "customer.yaml": `entity: customer
table: main.customers
grain: [id]
dimensions:
  country: { label: Country }
measures:
  count: { count: rows }
metrics:
  customers: { measure: count, label: Customers }
`,
  "staff.yaml": "entity: [\n",
};

/** Replaces the metrics of the demo shop: one is broken, and one file cannot be read. */
export async function writeMetrics(project: string): Promise<void> {
  const folder = join(project, "context", "metrics", "shop");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
}
