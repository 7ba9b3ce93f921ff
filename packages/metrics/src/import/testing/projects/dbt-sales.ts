import { MESSY } from "../../../testing/scenarios/messy.ts";
import { between } from "../../../testing/scenarios/scenario.ts";
import type { Project } from "./project.ts";

/** A jaffle shop of stores, sales and lines, in the latest spec. */
export const DBT_SALES: Project = {
  name: "sales in dbt's latest spec",
  format: "dbt",
  world: MESSY,
  unmapped: [],
  texts: [
    {
      path: "models/stores.yml",
      text: `models:
  - name: stores
    semantic_model: { enabled: true }
    columns:
      - { name: id, entity: { type: primary, name: store } }
      - { name: city, dimension: { type: categorical } }
      - { name: opened, granularity: day, dimension: { type: time } }
  - name: sales
    semantic_model: { enabled: true }
    agg_time_dimension: sold
    columns:
      - { name: id, entity: { type: primary, name: sale } }
      - { name: store_id, entity: { type: foreign, name: store } }
      - { name: customer, dimension: { type: categorical } }
      - { name: sold, granularity: day, dimension: { type: time } }
    metrics:
      - { name: sold_total, type: simple, label: Sold, agg: sum, expr: total }
      - { name: sale_count, type: simple, label: Sales, agg: count, expr: id }
      - { name: buyers, type: simple, label: Buyers, agg: count_distinct, expr: customer }
      - { name: weekly_buyers, type: cumulative, label: Weekly buyers, input_metric: buyers, window: 7 days }
      - { name: buyers_ever, type: cumulative, label: Buyers ever, input_metric: buyers }
      - name: large_sales
        type: simple
        label: Large
        agg: count
        expr: id
        filter: "{{ Dimension('store__city') }} <> 'Bonn'"
      - { name: mean_sale, type: ratio, label: Mean, numerator: sold_total, denominator: sale_count }
  - name: sale_lines
    semantic_model: { enabled: true }
    primary_entity: sale_line
    agg_time_dimension: null
    columns:
      - { name: sale_id, entity: { type: foreign, name: sale } }
      - { name: article, dimension: { type: categorical } }
    metrics:
      - { name: line_value, type: simple, label: Value, agg: sum, expr: pieces * price }
      - { name: tea_value, type: simple, label: Tea, agg: sum, expr: "case when article = 'tea' then pieces * price end" }
metrics:
  - name: tea_share
    type: derived
    label: Tea share
    expr: tea_value * 1.0 / line_value
    input_metrics: [{ name: tea_value }, { name: line_value }]
  - { name: value_per_sale, type: ratio, label: Basket, numerator: line_value, denominator: sale_count }
`,
    },
  ],
  scenarios: [
    {
      title: "sums and counts by city",
      query: { metrics: ["sold_total", "sale_count", "mean_sale"], by: ["store.city"] },
      sql: "select t.city, sum(total), count(*), sum(total) * 1.0 / count(*) from @sales s left join @stores t on t.id = s.store_id group by t.city",
    },
    {
      title: "a chain of three",
      query: { metrics: ["line_value", "tea_share"], by: ["store.city"] },
      sql: "select t.city, sum(pieces * price), coalesce(sum(case when article = 'tea' then pieces * price end), 0) * 1.0 / sum(pieces * price) from @sale_lines l left join @sales s on s.id = l.sale_id left join @stores t on t.id = s.store_id group by t.city",
    },
    {
      title: "a ratio of two grains",
      query: { metrics: ["value_per_sale"], by: ["sale.customer"] },
      sql: "select k.c, (select sum(pieces * price) from @sale_lines l join @sales s on s.id = l.sale_id where s.customer = k.c) * 1.0 / k.n from (select customer c, count(*) n from @sales where customer in ('ann', 'bob', 'cyd') group by customer) k union all select null, 0 union all select 'dan', 0",
    },
    {
      title: "distinct buyers of seven days",
      query: { metrics: ["weekly_buyers"], by: ["time.day"], where: between("2025-02-10", "2025-02-13") },
      rows: [
        ["2025-02-10", 1],
        ["2025-02-11", 1],
        ["2025-02-12", 1],
      ],
    },
    {
      title: "distinct buyers ever",
      query: { metrics: ["buyers_ever"], by: ["time.year"] },
      rows: [
        ["2025-01-01", 3],
        ["2026-01-01", 4],
      ],
    },
    {
      title: "a filter by another model leaves NULL out",
      query: { metrics: ["large_sales"] },
      sql: "select count(*) from @sales s join @stores t on t.id = s.store_id where t.city <> 'Bonn'",
    },
  ],
};
