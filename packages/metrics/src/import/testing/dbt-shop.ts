import type { SourceText } from "../imported-project.ts";

/** A dbt project on the shop of `testing/shop.ts`, in the legacy spec. */
export const DBT_LEGACY: SourceText[] = [
  {
    path: "models/semantic/orders.yml",
    text: `semantic_models:
  - name: orders
    description: One row per order.
    model: ref('orders')
    defaults: { agg_time_dimension: ordered_at }
    entities:
      - { name: order, type: primary, expr: id }
      - { name: customer, type: foreign, expr: customer_id }
      - { name: ship_region, type: foreign, expr: ship_to }
    dimensions:
      - { name: ordered_at, type: time, type_params: { time_granularity: day } }
      - { name: shipped_at, type: time, type_params: { time_granularity: day } }
      - { name: status, type: categorical, label: Status, description: How far the order is. }
      - { name: is_open, type: categorical, expr: "status = 'open'" }
    measures:
      - { name: order_count, agg: count, expr: 1 }
      - { name: buyers, agg: count_distinct, expr: customer_id }
      - { name: shipped_count, agg: count, expr: id, agg_time_dimension: shipped_at }
      - { name: open_orders, agg: sum_boolean, expr: "status = 'open'" }
  - name: customers
    model: ref('customers')
    entities:
      - { name: customer, type: primary, expr: id }
      - { name: region, type: foreign, expr: region_id }
    dimensions:
      - { name: segment, type: categorical }
      - { name: is_test, type: categorical }
  - name: regions
    model: ref('regions')
    entities:
      - { name: region, type: primary, expr: id }
      - { name: ship_region, type: unique, expr: id }
    dimensions:
      - { name: region_name, type: categorical, expr: name }
`,
  },
  {
    path: "models/semantic/lines.yml",
    text: `semantic_models:
  - name: lines
    model: ref('lines')
    primary_entity: line
    entities:
      - { name: order, type: foreign, expr: order_id }
    dimensions:
      - { name: product, type: categorical }
    measures:
      - { name: amount, agg: sum, expr: amount_cents / 100.0, description: Euros. }
      - { name: p90, agg: percentile, expr: amount_cents, agg_params: { percentile: 0.9 } }
  - name: stock
    model: ref('stock')
    defaults: { agg_time_dimension: day }
    primary_entity: stock_day
    dimensions:
      - { name: day, type: time, type_params: { time_granularity: day } }
      - { name: product, type: categorical }
    measures:
      - name: on_hand
        agg: sum
        non_additive_dimension: { name: day, window_choice: max }
  - name: payments
    model: ref('payments')
    defaults: { agg_time_dimension: paid_at }
    entities:
      - { name: payment, type: primary, expr: id }
      - { name: order, type: foreign, expr: order_id }
    dimensions:
      - { name: paid_at, type: time, type_params: { time_granularity: day } }
    measures:
      - { name: paid_amount, agg: sum, expr: cents / 100.0, create_metric: true }
`,
  },
  {
    path: "models/metrics.yml",
    text: `metrics:
  - name: orders
    label: Orders
    description: All orders, also cancelled ones.
    type: simple
    type_params: { measure: order_count }
    config: { meta: { owner: sales, synonyms: [purchases, Bestellungen] } }
  - name: real_orders
    type: simple
    type_params: { measure: order_count }
    filter: |
      {{ Dimension('order__status') }} <> 'cancelled' and {{ Dimension('customer__is_test') }} = 0
  - name: buyers
    type: simple
    type_params: { measure: buyers }
  - name: open_orders
    type: simple
    type_params: { measure: open_orders }
  - name: shipped
    type: simple
    type_params: { measure: shipped_count }
  - name: january_orders
    type: simple
    type_params: { measure: order_count }
    filter: "{{ TimeDimension('metric_time', 'month') }} = '2026-01-01'"
  - name: revenue
    type: simple
    type_params: { measure: { name: amount, filter: "{{ Dimension('order__status') }} != 'cancelled'" } }
  - name: revenue_or_zero
    type: simple
    type_params: { measure: { name: amount, fill_nulls_with: 0 } }
  - name: order_value
    type: ratio
    type_params: { numerator: revenue, denominator: real_orders }
  - name: tea_share
    type: ratio
    type_params:
      numerator: { name: revenue, filter: "{{ Dimension('line__product') }} = 'tea'" }
      denominator: revenue
  - name: unpaid
    type: derived
    type_params: { expr: revenue - paid_amount, metrics: [revenue, paid_amount] }
  - name: growth
    type: derived
    type_params:
      expr: now - before
      metrics:
        - { name: orders, alias: now }
        - { name: orders, alias: before, offset_window: 1 year }
  - name: north_orders
    type: simple
    filter: "{{ Dimension('ship_region__region_name') }} = 'North'"
    type_params: { measure: order_count }
  - name: orders_to_date
    type: cumulative
    type_params: { measure: order_count, cumulative_type_params: { grain_to_date: year, period_agg: last } }
  - name: orders_rolling
    type: cumulative
    type_params: { measure: order_count, window: 30 days }
  - name: stock
    type: simple
    type_params: { measure: on_hand }
  - name: visit_to_buy
    type: conversion
    type_params: { conversion_type_params: { entity: customer } }
  - name: big_spenders
    type: simple
    type_params: { measure: order_count }
    filter: "{{ Metric('revenue', ['customer']) }} > 100"
  - name: high_price
    type: simple
    type_params: { measure: p90 }
`,
  },
];

/** A part of it in the latest spec: entities and dimensions at columns, and no measures. */
export const DBT_LATEST: SourceText[] = [
  {
    path: "models/orders.yml",
    text: `models:
  - name: orders
    description: One row per order.
    semantic_model: { enabled: true }
    agg_time_dimension: ordered_at
    columns:
      - { name: id, entity: { type: primary, name: order } }
      - { name: customer_id, entity: { type: foreign, name: customer } }
      - { name: ordered_at, granularity: day, dimension: { type: time } }
      - { name: shipped_at, granularity: day, dimension: time }
      - { name: status, dimension: categorical }
    derived_semantics:
      dimensions:
        - { name: is_open, type: categorical, expr: "status = 'open'" }
    metrics:
      - { name: orders, type: simple, agg: count, expr: 1 }
      - { name: buyers, type: simple, agg: count_distinct, expr: customer_id }
      - { name: shipped, type: simple, agg: count, expr: id, agg_time_dimension: shipped_at }
      - name: real_orders
        type: simple
        agg: count
        expr: 1
        filter: "{{ Dimension('order__status') }} <> 'cancelled' and {{ Dimension('customer__is_test') }} = 0"
  - name: customers
    semantic_model: true
    columns:
      - { name: id, entity: { type: primary, name: customer } }
      - { name: is_test, dimension: { type: categorical } }
  - name: lines
    semantic_model: { enabled: true, name: lines }
    primary_entity: line
    columns:
      - { name: order_id, entity: { type: foreign, name: order } }
      - { name: product, dimension: categorical }
    metrics:
      - name: revenue
        type: simple
        agg: sum
        expr: amount_cents / 100.0
        filter: "{{ Dimension('order__status') }} != 'cancelled'"
  - name: stock
    semantic_model: true
    primary_entity: stock_day
    agg_time_dimension: day
    columns:
      - { name: day, granularity: day, dimension: time }
      - { name: product, dimension: categorical }
    metrics:
      - { name: stock, type: simple, agg: sum, expr: on_hand, non_additive_dimension: { name: day, window_agg: max } }
metrics:
  - { name: order_value, type: ratio, numerator: revenue, denominator: real_orders }
  - name: growth
    type: derived
    expr: now - before
    input_metrics: [{ name: orders, alias: now }, { name: orders, alias: before, offset_window: 1 year }]
  - { name: orders_to_date, type: cumulative, input_metric: orders, grain_to_date: year, period_agg: last }
`,
  },
];

/** The same part as `dbt parse` writes it. */
export const DBT_MANIFEST: SourceText[] = [
  {
    path: "target/semantic_manifest.json",
    text: JSON.stringify({
      semantic_models: [
        {
          name: "orders",
          defaults: { agg_time_dimension: "ordered_at" },
          node_relation: { alias: "orders", schema_name: "main", database: "shop", relation_name: "shop.main.orders" },
          primary_entity: null,
          entities: [{ name: "order", type: "primary", role: null, expr: "id", metadata: null }],
          dimensions: [
            {
              name: "ordered_at",
              type: "time",
              is_partition: false,
              type_params: { time_granularity: "day", validity_params: null },
              expr: null,
            },
            { name: "status", type: "categorical", is_partition: false, type_params: null, expr: null },
          ],
          measures: [
            {
              name: "order_count",
              agg: "count",
              create_metric: false,
              expr: "1",
              agg_params: null,
              non_additive_dimension: null,
              agg_time_dimension: null,
            },
          ],
        },
      ],
      metrics: [
        {
          name: "orders",
          type: "simple",
          type_params: {
            measure: {
              name: "order_count",
              filter: null,
              alias: null,
              join_to_timespine: false,
              fill_nulls_with: null,
            },
            input_measures: [{ name: "order_count", filter: null, alias: null }],
            metrics: [],
            numerator: null,
          },
          filter: null,
          metadata: {
            repo_file_path: "models/metrics.yml",
            file_slice: { filename: "metrics.yml", start_line_number: 2 },
          },
        },
        {
          name: "growth",
          type: "derived",
          type_params: {
            measure: null,
            expr: "now - before",
            metrics: [
              { name: "orders", filter: null, alias: "now", offset_window: null, offset_to_grain: null },
              {
                name: "orders",
                filter: null,
                alias: "before",
                offset_window: { count: 1, granularity: "year" },
                offset_to_grain: null,
              },
            ],
            input_measures: [{ name: "order_count" }],
          },
          filter: null,
        },
        {
          name: "orders_rolling",
          type: "cumulative",
          type_params: {
            measure: { name: "order_count", filter: null },
            cumulative_type_params: {
              window: { count: 30, granularity: "day" },
              grain_to_date: null,
              period_agg: "first",
            },
            window: { count: 30, granularity: "day" },
            input_measures: [{ name: "order_count" }],
          },
          filter: { where_filters: [] },
        },
      ],
      saved_queries: [],
      project_configuration: { time_spines: [] },
    }),
  },
];
