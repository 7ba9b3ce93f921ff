import { BILLING } from "../../../testing/scenarios/billing.ts";
import { between } from "../../../testing/scenarios/scenario.ts";
import type { Project } from "./project.ts";

/** Subscription billing, in the legacy spec over several files. */
export const DBT_BILLING: Project = {
  name: "billing in dbt's legacy spec",
  format: "dbt",
  world: BILLING,
  unmapped: ["measure p95", "saved query monthly_billing", "metric invoice_to_payment", "metric p95_invoice"],
  texts: [
    {
      path: "models/marts/billing/sem_invoices.yml",
      text: `version: 2
semantic_models:
  - name: invoices
    description: One row per invoice or credit note.
    model: ref('invoices')
    defaults:
      agg_time_dimension: issued
    entities:
      - { name: invoice, type: primary, expr: id }
      - { name: account, type: foreign, expr: account_id }
    dimensions:
      - { name: issued, type: time, type_params: { time_granularity: day } }
      - { name: currency, type: categorical }
      - { name: kind, type: categorical }
      - name: size
        type: categorical
        expr: case when amount >= 100 then 'large' when amount < 0 then 'credit' else 'small' end
    measures:
      - { name: billed_amount, agg: sum, expr: amount }
      - { name: invoice_count, agg: count, expr: id }
      - { name: paying_accounts, agg: count_distinct, expr: account_id }
      - { name: mean_amount, agg: average, expr: amount }
      - { name: largest, agg: max, expr: amount, create_metric: true }
      - { name: credit_count, agg: sum_boolean, expr: kind = 'credit' }
      - { name: median_amount, agg: median, expr: amount }
      - { name: p95, agg: percentile, expr: amount, agg_params: { percentile: 0.95 } }
`,
    },
    {
      path: "models/marts/billing/sem_accounts.yml",
      text: `semantic_models:
  - name: accounts
    model: ref('accounts')
    entities:
      - { name: account, type: primary, expr: id }
    dimensions:
      - { name: country, type: categorical }
      - { name: tier, type: categorical }
  - name: payments
    model: ref('payments')
    defaults: { agg_time_dimension: paid_at }
    entities:
      - { name: payment, type: primary, expr: id }
      - { name: invoice, type: foreign, expr: invoice_id }
    dimensions:
      - { name: paid_at, type: time, type_params: { time_granularity: day } }
      - { name: method, type: categorical }
    measures:
      - { name: paid_amount, agg: sum, expr: amount }
`,
    },
    {
      path: "models/marts/billing/metrics.yml",
      text: `metrics:
  - { name: billed, label: Billed, type: simple, type_params: { measure: billed_amount } }
  - { name: invoices, label: Invoices, type: simple, type_params: { measure: { name: invoice_count } } }
  - { name: payers, label: Payers, type: simple, type_params: { measure: paying_accounts } }
  - { name: mean_invoice, label: Mean, type: simple, type_params: { measure: mean_amount } }
  - { name: median_invoice, label: Median, type: simple, type_params: { measure: median_amount } }
  - { name: p95_invoice, label: P95, type: simple, type_params: { measure: p95 } }
  - { name: credits, label: Credits, type: simple, type_params: { measure: credit_count } }
  - { name: paid, label: Paid, type: simple, type_params: { measure: paid_amount } }
  - name: us_billed
    label: Billed in the US
    type: simple
    type_params: { measure: billed_amount }
    filter: |
      {{ Dimension('account__country') }} = 'US'
      and {{ Dimension('invoice__kind') }} in ('invoice', 'credit')
  - name: gold_or_us
    label: Gold or US
    type: simple
    type_params: { measure: billed_amount }
    filter:
      - "{{ Dimension('account__tier') }} = 'gold' or {{ Dimension('account__country') }} = 'US'"
      - "{{ TimeDimension('invoice__issued', 'day') }} >= '2026-01-01'"
  - { name: us_share, label: US share, type: ratio, type_params: { numerator: us_billed, denominator: billed } }
  - name: credit_rate
    label: Credit rate
    type: ratio
    type_params: { numerator: { name: credits, filter: "{{ Dimension('account__tier') }} is not null" }, denominator: invoices }
  - name: open_amount
    label: Open
    type: derived
    type_params: { expr: billed - paid, metrics: [billed, paid] }
  - name: growth
    label: Growth
    type: derived
    type_params:
      expr: (billed - billed_before) * 100.0 / billed_before
      metrics: [{ name: billed }, { name: billed, offset_window: 1 month, alias: billed_before }]
  - name: billed_ytd
    label: Year to date
    type: cumulative
    type_params: { measure: billed_amount, cumulative_type_params: { grain_to_date: year } }
  - name: billed_30_days
    label: Trailing 30 days
    type: cumulative
    type_params: { measure: billed_amount, cumulative_type_params: { window: 30 days } }
  - name: billed_all_time
    label: All time
    type: cumulative
    type_params: { measure: billed_amount }
  - name: invoice_to_payment
    label: Conversion
    type: conversion
    type_params: { conversion_type_params: { base_measure: invoice_count, conversion_measure: paid_amount, entity: invoice, window: 7 days } }
saved_queries:
  - name: monthly_billing
    query_params: { metrics: [billed], group_by: ["TimeDimension('metric_time', 'month')"] }
`,
    },
  ],
  scenarios: [
    {
      title: "a sum by a dimension of another model",
      query: { metrics: ["billed", "invoices"], by: ["account.country"] },
      sql: "select a.country, sum(i.amount), count(i.id) from @invoices i left join @accounts a on a.id = i.account_id group by a.country",
    },
    {
      title: "a computed dimension",
      query: { metrics: ["invoices"], by: ["invoice.size"] },
      sql: "select case when amount >= 100 then 'large' when amount < 0 then 'credit' else 'small' end, count(*) from @invoices group by 1",
    },
    {
      title: "distinct, average, median, max",
      query: { metrics: ["payers", "mean_invoice", "median_invoice", "largest"] },
      sql: "select count(distinct account_id), avg(amount), (select 80.0), max(amount) from @invoices",
    },
    {
      title: "filters of two models",
      query: { metrics: ["us_billed", "us_share"] },
      sql: "select sum(case when a.country = 'US' then amount end), sum(case when a.country = 'US' then amount end) / sum(amount) from @invoices i left join @accounts a on a.id = i.account_id",
    },
    {
      title: "a list of filters, one with or",
      query: { metrics: ["gold_or_us"] },
      sql: "select sum(amount) from @invoices i left join @accounts a on a.id = i.account_id where (a.tier = 'gold' or a.country = 'US') and issued >= '2026-01-01'",
    },
    {
      title: "a ratio with a filtered numerator",
      query: { metrics: ["credit_rate"] },
      sql: "select sum(case when kind = 'credit' and a.tier is not null then 1 else 0 end) * 1.0 / count(*) from @invoices i left join @accounts a on a.id = i.account_id",
    },
    {
      title: "two facts",
      query: { metrics: ["open_amount", "paid"], by: ["account.country"] },
      rows: [
        ["DE", 150.15 - 200.2, 200.2],
        ["US", 85 + 12000 - 80, 80],
        [null, 0.3 + 999.99 - 1009.99, 1009.99],
      ],
    },
    {
      title: "growth in percent",
      query: { metrics: ["growth"], by: ["time.month"], where: between("2026-01-01", "2026-03-01") },
      rows: [
        ["2026-01-01", ((130.05 - 100.1) * 100) / 100.1],
        ["2026-02-01", ((80.3 - 130.05) * 100) / 130.05],
      ],
    },
    {
      title: "year to date and 30 days",
      query: { metrics: ["billed_ytd", "billed_all_time"], by: ["time.month"] },
      rows: [
        ["2025-12-01", 100.1, 100.1],
        ["2026-01-01", 130.05, 230.15],
        ["2026-02-01", 210.35, 310.45],
        ["2026-03-01", 13130.34, 13230.44],
      ],
    },
    {
      title: "a window of 30 days",
      query: { metrics: ["billed_30_days"], by: ["time.day"], where: between("2026-01-30", "2026-02-01") },
      rows: [
        ["2026-01-30", 130.05],
        ["2026-01-31", 80],
      ],
    },
  ],
};
