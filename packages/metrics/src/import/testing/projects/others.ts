import { BILLING } from "../../../testing/scenarios/billing.ts";
import { LOGISTICS } from "../../../testing/scenarios/logistics.ts";
import { MESSY } from "../../../testing/scenarios/messy.ts";
import type { Project } from "./project.ts";

export const OSSIE_BILLING: Project = {
  name: "billing in Ossie",
  format: "ossie",
  world: BILLING,
  unmapped: ["metric ranked", "metric databricks_only"],
  texts: [
    {
      path: "billing.ossie.yaml",
      text: `version: 0.2.0.dev0
semantic_model:
  - name: billing
    datasets:
      - name: invoices
        source: shop.main.invoices
        primary_key: [id]
        fields:
          - { name: issued, expression: { dialects: [{ dialect: ANSI_SQL, expression: issued }] }, dimension: { is_time: true } }
          - { name: currency, expression: { dialects: [{ dialect: ANSI_SQL, expression: currency }] }, dimension: {} }
          - { name: is_credit, expression: { dialects: [{ dialect: ANSI_SQL, expression: "kind = 'credit'" }] }, dimension: {} }
          - { name: amount, expression: { dialects: [{ dialect: ANSI_SQL, expression: amount }] } }
      - name: accounts
        source: shop.main.accounts
        primary_key: [id]
        fields:
          - { name: country, expression: { dialects: [{ dialect: ANSI_SQL, expression: country }] }, dimension: {} }
      - name: payments
        source: shop.main.payments
        primary_key: [id]
        fields:
          - { name: method, expression: { dialects: [{ dialect: ANSI_SQL, expression: method }] }, dimension: {} }
    relationships:
      - { name: invoice_account, from: invoices, to: accounts, from_columns: [account_id], to_columns: [id] }
      - { name: payment_invoice, from: payments, to: invoices, from_columns: [invoice_id], to_columns: [id] }
    metrics:
      - { name: billed, expression: { dialects: [{ dialect: ANSI_SQL, expression: SUM(invoices.amount) }] } }
      - { name: payers, expression: { dialects: [{ dialect: ANSI_SQL, expression: COUNT(DISTINCT invoices.account_id) }] } }
      - { name: credits, expression: { dialects: [{ dialect: ANSI_SQL, expression: "SUM(CASE WHEN invoices.kind = 'credit' THEN invoices.amount END)" }] } }
      - { name: paid, expression: { dialects: [{ dialect: ANSI_SQL, expression: SUM(payments.amount) }] } }
      - { name: open_amount, expression: { dialects: [{ dialect: ANSI_SQL, expression: SUM(invoices.amount) - SUM(payments.amount) }] } }
      - { name: per_payer, expression: { dialects: [{ dialect: ANSI_SQL, expression: "SUM(invoices.amount) * 1.0 / NULLIF(COUNT(DISTINCT invoices.account_id), 0)" }] } }
      - { name: ranked, expression: { dialects: [{ dialect: ANSI_SQL, expression: RANK() OVER (ORDER BY invoices.amount) }] } }
      - { name: databricks_only, expression: { dialects: [{ dialect: DATABRICKS, expression: SUM(invoices.amount) }] } }
`,
    },
  ],
  scenarios: [
    {
      title: "sums of two datasets",
      query: { metrics: ["billed", "paid", "open_amount"], by: ["accounts.country"] },
      rows: [
        ["DE", 150.15, 200.2, 150.15 - 200.2],
        ["US", 12085, 80, 12005],
        [null, 1000.29, 1009.99, 1000.29 - 1009.99],
      ],
    },
    {
      title: "a CASE inside an aggregate",
      query: { metrics: ["credits", "payers"], by: ["invoices.currency"] },
      sql: "select currency, sum(case when kind = 'credit' then amount end), count(distinct account_id) from @invoices group by currency",
    },
    {
      title: "a division of aggregates",
      query: { metrics: ["per_payer"] },
      sql: "select sum(amount) / count(distinct account_id) from @invoices",
    },
    {
      title: "a boolean field",
      query: { metrics: ["billed"], where: [{ field: "invoices.is_credit", op: "=", value: true }] },
      sql: "select sum(amount) from @invoices where kind = 'credit'",
    },
  ],
};

export const KTX_LOGISTICS: Project = {
  name: "logistics in KTX",
  format: "ktx",
  world: LOGISTICS,
  unmapped: ["metric cost_rank", "column ports.id", "source daily", "join of legs to carriers"],
  texts: [
    {
      path: "semantic-layer/shop/ports.yaml",
      text: "name: ports\ntable: main.ports\ngrain: [id]\ncolumns:\n  - { name: id, type: number, visibility: hidden }\n  - { name: name, type: string }\n  - { name: is_hub, type: boolean }\n",
    },
    {
      path: "semantic-layer/shop/shipments.yaml",
      text: "name: shipments\ntable: main.shipments\ngrain: [id]\ncolumns:\n  - { name: booked, type: time, role: time, natural_granularity: day }\n  - { name: status, type: string }\nmeasures:\n  - { name: shipment_count, expr: count(*) }\n  - { name: total_weight, expr: sum(weight) }\nsegments:\n  - { name: finished, expr: \"status = 'done'\" }\n",
    },
    {
      path: "semantic-layer/shop/daily.yaml",
      text: "name: daily\nsql: select booked, count(*) n from shipments group by 1\ngrain: [booked]\nmeasures:\n  - { name: days, expr: count(*) }\n",
    },
    {
      path: "semantic-layer/shop/legs.yaml",
      text: `name: legs
table: main.legs
grain: [shipment_id, leg]
columns:
  - { name: departed, type: time, role: time, natural_granularity: day }
  - { name: leg, type: number }
joins:
  - { to: shipments, on: shipment_id = shipments.id, relationship: many_to_one }
  - { to: ports, on: origin = origin_port.id, relationship: many_to_one, alias: origin_port }
  - { to: ports, on: destination = destination_port.id, relationship: many_to_one, alias: destination_port }
  - { to: carriers, on: "cost > carriers.id", relationship: many_to_one }
measures:
  - { name: leg_cost, expr: sum(cost) }
  - { name: hub_cost, expr: sum(cost), filter: origin_port.is_hub }
  - { name: cheap_legs, expr: "count(case when cost < 100 then 1 end)" }
  - { name: cost_per_shipment, expr: leg_cost * 1.0 / shipments.shipment_count }
  - { name: cost_rank, expr: rank() over (order by cost) }
`,
    },
  ],
  scenarios: [
    {
      title: "by the origin and the destination",
      query: { metrics: ["leg_cost"], by: ["origin_port.name", "destination_port.name"] },
      sql: "select o.name, d.name, sum(cost) from @legs l left join @ports o on o.id = l.origin left join @ports d on d.id = l.destination group by o.name, d.name",
    },
    {
      title: "a filter through an alias",
      query: { metrics: ["hub_cost", "cheap_legs"] },
      sql: "select sum(case when o.is_hub then cost end), count(case when cost < 100 then 1 end) from @legs l left join @ports o on o.id = l.origin",
    },
    {
      title: "a derived measure over two sources",
      query: { metrics: ["cost_per_shipment"], by: ["shipments.status"] },
      rows: [
        ["done", 1050],
        ["open", 430.25],
        ["lost", 0],
        [null, null],
      ],
    },
    {
      title: "a segment",
      query: { metrics: ["leg_cost", "shipment_count"], segments: ["shipments.finished"] },
      sql: "select (select sum(cost) from @legs l join @shipments s on s.id = l.shipment_id where s.status = 'done'), count(*) from @shipments where status = 'done'",
    },
  ],
};

export const KTX_SALES: Project = {
  name: "sales in KTX, over a scanned manifest",
  format: "ktx",
  world: MESSY,
  unmapped: [],
  texts: [
    {
      path: "semantic-layer/shop/stores.yaml",
      text: "name: stores\ntable: main.stores\ngrain: [id]\ncolumns:\n  - { name: city, type: string }\n",
    },
    {
      path: "semantic-layer/shop/sales.yaml",
      text: "name: sales\ntable: main.sales\ngrain: [id]\ncolumns:\n  - { name: sold, type: time, role: time, natural_granularity: day }\n  - { name: size, type: string, expr: \"case when total >= 25 then 'large' else 'small' end\" }\njoins:\n  - { to: stores, on: store_id = stores.id, relationship: many_to_one }\nmeasures:\n  - { name: sold_total, expr: sum(total) }\n  - { name: buyers, expr: count(distinct customer) }\n  - { name: middle, expr: median(total) }\n  - { name: net, expr: sold_total - returns.returned_pieces }\n  - { name: big, expr: sum(total), segments: [large] }\nsegments:\n  - { name: large, expr: total >= 25 }\n",
    },
    {
      path: "semantic-layer/shop/returns.yaml",
      text: "name: returns\ntable: main.returns\ngrain: [id]\ncolumns:\n  - { name: returned, type: time, role: time, natural_granularity: day }\njoins:\n  - { to: sales, on: sale_id = sales.id, relationship: many_to_one }\nmeasures:\n  - { name: returned_pieces, expr: sum(pieces) }\n",
    },
  ],
  scenarios: [
    {
      title: "two facts of one city",
      query: { metrics: ["sold_total", "returned_pieces", "net"], by: ["stores.city"] },
      rows: [
        ["Köln", 80, 4, 76],
        ["Bonn", 105, 5, 100],
        [null, 5, null, 5],
      ],
    },
    {
      title: "a median and distinct values",
      query: { metrics: ["middle", "buyers", "big"], by: ["sales.size"] },
      rows: [
        ["large", 30, 2, 135],
        ["small", 10, 3, null],
      ],
    },
  ],
};
