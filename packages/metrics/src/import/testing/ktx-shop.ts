import type { SourceText } from "../imported-project.ts";

/** KTX sources on the shop of `testing/shop.ts`. */
export const KTX_SHOP: SourceText[] = [
  {
    path: "semantic-layer/shop/orders.yaml",
    text: `name: orders
table: main.orders
descriptions: { user: One row per order. }
grain: [id]
columns:
  - { name: id, type: number, visibility: hidden }
  - { name: customer_id, type: number, visibility: internal }
  - { name: status, type: string, description: How far the order is. }
  - { name: ordered_at, type: time, role: time }
  - { name: is_done, type: boolean, expr: "status = 'done'" }
joins:
  - { to: customers, on: customer_id = customers.id, relationship: many_to_one }
  - { to: regions, on: orders.ship_to = ship_region.id, relationship: many_to_one, alias: ship_region }
  - { to: lines, on: id = lines.order_id, relationship: one_to_many }
segments:
  - { name: real, expr: "status != 'cancelled' and is_done" }
measures:
  - { name: count, expr: count(*) }
  - { name: done, expr: count(*), segments: [real] }
  - { name: buyers, expr: count(distinct customer_id), filter: "status <> 'cancelled'" }
  - { name: home_orders, expr: count(*), filter: "customers.segment = 'home'", description: Of private buyers. }
  - { name: done_share, expr: sum(case when is_done then 1.0 else 0.0 end) / count(*) }
  - { name: north, expr: count(*) filter (where ship_region.name = 'North') }
  - { name: value, expr: lines.revenue / count }
`,
  },
  {
    path: "semantic-layer/shop/lines.yaml",
    text: `name: lines
table: lines
grain: [order_id, line]
columns:
  - { name: product, type: string }
  - { name: euros, type: number, expr: amount_cents / 100.0 }
measures:
  - { name: revenue, expr: sum(euros) }
  - { name: count, expr: count(*) }
  - { name: middle, expr: median(amount_cents) }
`,
  },
  {
    path: "semantic-layer/shop/customers.yaml",
    text: `name: customers
grain: [id]
column_overrides:
  - { name: segment, type: string }
joins:
  - { to: regions, on: region_id = regions.id, relationship: many_to_one }
measures:
  - { name: customers, expr: count(id) }
`,
  },
  {
    path: "semantic-layer/shop/regions.yaml",
    text: "name: regions\ntable: main.regions\ngrain: [id]\ncolumns: [{ name: name, type: string }]\n",
  },
  { path: "ktx.yaml", text: "connections:\n  shop: { driver: sqlite }\nllm:\n  provider: { backend: none }\n" },
];
