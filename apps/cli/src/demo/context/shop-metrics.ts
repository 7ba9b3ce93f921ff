/** The metrics of the shop, by path. Their rules are those of docs/metrics.md. */
export const SHOP_METRICS: Readonly<Record<string, string>> = {
  "metrics/shop/customer.yaml": `entity: customer
description: A person with an account.
table: main.customers
grain: [id]
dimensions:
  country: { label: Country }
`,
  "metrics/shop/product.yaml": `entity: product
description: An article of the shop.
table: main.products
grain: [sku]
dimensions:
  title: { label: Product }
  category: { label: Category }
`,
  "metrics/shop/order_line.yaml": `entity: order_line
description: One position of an order.
table: main.order_lines
grain: [order_id, line_no]
time: placed
dimensions:
  placed: { expr: order.placed_at, time: day, label: Order date }
measures:
  goods: { sum: quantity * unit_price_cents / 100, where: order.status <> 'cancelled', unit: EUR }
metrics:
  goods_sold:
    measure: goods
    label: Goods sold
    description: Quantity times unit price of all lines of orders that are not cancelled, before refunds.
    owner: finance
`,
  "metrics/shop/refund.yaml": `entity: refund
description: Money that goes back for one line of an order.
table: main.refunds
grain: [id]
time: placed
dimensions:
  placed: { expr: order_line.order.placed_at, time: day, label: Order date }
  reason: { label: Reason }
measures:
  paid: { sum: amount_cents / 100, where: paid_on is not null, unit: EUR }
metrics:
  refunds_paid:
    measure: paid
    label: Refunds paid
    description: Refunds that have been paid, in the month in which the order was placed.
    owner: finance
`,
  "metrics/shop/order.yaml": `entity: order
description: One order of a customer.
table: main.orders
grain: [id]
time: placed
dimensions:
  placed: { expr: placed_at, time: day, label: Order date }
  status: { label: Status }
  channel: { label: Channel }
segments:
  real: status <> 'cancelled'
measures:
  count: { count: rows, where: real }
metrics:
  orders:
    measure: count
    label: Orders
    description: Orders that are not cancelled.
    owner: finance
  revenue:
    derived: goods_sold - refunds_paid
    label: Revenue
    description: Goods sold less refunds paid, in the month in which the order was placed.
    owner: finance
    unit: EUR
    aka: [turnover, sales, Umsatz]
  average_order_value:
    ratio: [revenue, orders]
    label: Average order value
    description: Revenue per order that is not cancelled.
    owner: finance
    unit: EUR
    aka: [AOV]
`,
};
