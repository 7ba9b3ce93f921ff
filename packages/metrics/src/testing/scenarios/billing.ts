import { between, type World } from "./scenario.ts";

/** Subscriptions in several currencies, with rates per day, refunds as negative amounts, and plans that change. */
export const BILLING: World = {
  name: "billing",
  tables: {
    accounts: {
      columns: "id int, name text, country text, tier text",
      key: ["id"],
      rows: [
        [1, "Acme", "DE", "gold"],
        [2, "Bolt", "US", "silver"],
        [3, "Cora", null, "gold"],
        [4, "Dune", "US", null],
      ],
    },
    invoices: {
      columns: "id int, account_id int, issued date, currency text, amount dec, kind text, plan_id int",
      key: ["id"],
      joins: ["account_id → accounts", "issued, currency → rates (day, currency)"],
      rows: [
        [1, 1, "2025-12-31", "EUR", 100.1, "invoice", 10],
        [2, 1, "2026-01-01", "EUR", 100.1, "invoice", 10],
        [3, 1, "2026-01-01", "EUR", -50.05, "credit", 10],
        [4, 2, "2026-01-15", "USD", 80.0, "invoice", 11],
        [5, 2, "2026-02-15", "USD", 80.0, "invoice", 11],
        [6, 3, "2026-02-28", "GBP", 0.2, "invoice", 10],
        [7, 3, "2026-02-28", "GBP", 0.1, "invoice", 10],
        [8, null, "2026-03-01", "USD", 999.99, "invoice", null],
        [9, 4, "2026-03-10", "JPY", 12000, "invoice", 11],
        [10, 2, "2026-03-15", "USD", -80.0, "credit", 11],
        [11, 2, null, "USD", 5.0, "invoice", 11],
      ],
    },
    rates: {
      columns: "day date, currency text, rate dec",
      key: ["day", "currency"],
      rows: [
        ["2025-12-31", "EUR", 1],
        ["2026-01-01", "EUR", 1],
        ["2026-01-15", "USD", 0.9],
        ["2026-02-15", "USD", 0.95],
        ["2026-02-28", "GBP", 1.2],
        ["2026-03-01", "USD", 0.8],
        ["2026-03-15", "USD", 0.85],
        ["2026-01-15", "EUR", 1],
      ],
    },
    payments: {
      columns: "id int, invoice_id int, paid_at time, amount dec, method text",
      key: ["id"],
      joins: ["invoice_id → invoices"],
      rows: [
        [1, 1, "2026-01-02 10:00:00", 60.1, "card"],
        [2, 1, "2026-01-03 10:00:00", 40.0, "bank"],
        [3, 2, "2026-01-31 23:59:59", 100.1, "card"],
        [4, 4, "2026-02-01 00:00:00", 80.0, "Card"],
        [5, 8, "2026-03-02 09:00:00", 999.99, null],
        [6, 999, "2026-03-03 09:00:00", 7.0, "card"],
        [7, null, "2026-03-04 09:00:00", 3.0, "bank"],
      ],
    },
  },
  files: [
    {
      entity: "account",
      table: "accounts",
      grain: ["id"],
      dimensions: { name: null, country: null, tier: null },
      measures: { all: { count: "rows" } },
      metrics: { accounts: { measure: "all" } },
    },
    {
      entity: "rate",
      table: "rates",
      grain: ["day", "currency"],
      dimensions: { currency: null },
    },
    {
      entity: "invoice",
      table: "invoices",
      grain: ["id"],
      time: "issued",
      dimensions: { issued: { time: "day" }, currency: null, kind: null, euros: { expr: "amount * rate.rate" } },
      segments: { credits: "kind = 'credit'", large: "amount >= 100" },
      measures: {
        amount: { sum: "amount" },
        euros: { sum: "amount * rate.rate" },
        count: { count: "rows" },
        credits: { sum: "amount", where: "credits" },
        payers: { count_distinct: "account_id" },
        largest: { max: "amount" },
        smallest: { min: "amount" },
        mean: { average: "amount" },
        converted: { sum: "amount * coalesce(rate.rate, 1)" },
        first_day: { min: "issued" },
      },
      metrics: {
        billed: { measure: "amount" },
        billed_euros: { measure: "euros" },
        invoices: { measure: "count" },
        credited: { measure: "credits" },
        payers: { measure: "payers" },
        largest: { measure: "largest" },
        smallest: { measure: "smallest" },
        mean_invoice: { measure: "mean" },
        converted: { measure: "converted" },
        first_day: { measure: "first_day" },
        per_payer: { ratio: ["billed", "payers"] },
        credit_share: { ratio: ["credited", "billed"] },
        open: { derived: "billed - paid" },
        paid_share: { ratio: ["paid", "billed"] },
        billed_ytd: { cumulative: "billed", to: "year" },
        billed_mtd: { cumulative: "billed", to: "month" },
        billed_so_far: { cumulative: "billed" },
        billed_30: { cumulative: "billed", window: "30 days" },
        growth: { derived: "billed - before", with: { before: { metric: "billed", offset: "1 month" } } },
        us_billed: { measure: "amount", where: "account.country = 'US'" },
        us_share: { ratio: ["us_billed", "billed"] },
        credit_rate: { derived: "0 - credited / billed" },
      },
    },
    {
      entity: "payment",
      table: "payments",
      grain: ["id"],
      time: "paid",
      dimensions: { paid: { expr: "paid_at", time: "hour" }, method: null, method_folded: { expr: "lower(method)" } },
      measures: { amount: { sum: "amount" }, count: { count: "rows" } },
      metrics: {
        paid: { measure: "amount" },
        payments: { measure: "count" },
        payment_mean: { ratio: ["paid", "payments"] },
      },
    },
  ],
  scenarios: [
    {
      title: "a total with decimals and negative amounts",
      query: { metrics: ["billed", "invoices"] },
      sql: "select sum(amount), count(*) from @invoices",
    },
    {
      title: "by currency",
      query: { metrics: ["billed"], by: ["invoice.currency"] },
      sql: "select currency, sum(amount) from @invoices group by currency",
    },
    {
      title: "a composite join to rates keeps invoices without a rate",
      query: { metrics: ["billed_euros", "invoices"], by: ["invoice.currency"] },
      sql: "select i.currency, sum(i.amount * r.rate), count(*) from @invoices i left join @rates r on r.day = i.issued and r.currency = i.currency group by i.currency",
    },
    {
      title: "a missing rate counts as one",
      query: { metrics: ["converted"] },
      sql: "select sum(i.amount * coalesce(r.rate, 1)) from @invoices i left join @rates r on r.day = i.issued and r.currency = i.currency",
    },
    {
      title: "two facts by a shared dimension, with NULL keys and orphans",
      query: { metrics: ["billed", "paid"], by: ["account.country"] },
      sql: "with b as (select a.country c, sum(i.amount) v from @invoices i left join @accounts a on a.id = i.account_id group by a.country), p as (select a.country c, sum(y.amount) v from @payments y left join @invoices i on i.id = y.invoice_id left join @accounts a on a.id = i.account_id group by a.country) select 'DE', (select v from b where c = 'DE'), (select v from p where c = 'DE') union all select 'US', (select v from b where c = 'US'), (select v from p where c = 'US') union all select null, (select v from b where c is null), (select v from p where c is null)",
    },
    {
      title: "open amounts over two facts, by month of each",
      query: { metrics: ["open"], by: ["time.month"], where: between("2026-01-01", "2026-04-01") },
      sql: ({ month }) =>
        `select m, coalesce(sum(b), 0) - coalesce(sum(p), 0) from (select ${month("issued")} m, amount b, null p from @invoices where issued >= '2026-01-01' and issued < '2026-04-01' union all select ${month("paid_at")}, null, amount from @payments where paid_at >= '2026-01-01' and paid_at < '2026-04-01') x group by m`,
    },
    {
      title: "a ratio of facts with a zero denominator",
      query: { metrics: ["credit_share"], by: ["invoice.kind", "account.name"] },
      sql: ({ div }) =>
        `select i.kind, a.name, ${div("coalesce(sum(case when i.kind = 'credit' then i.amount end), 0)", "sum(i.amount)")} from @invoices i left join @accounts a on a.id = i.account_id group by i.kind, a.name`,
    },
    {
      title: "distinct accounts do not count NULL",
      query: { metrics: ["payers", "per_payer"], by: ["invoice.currency"] },
      sql: ({ div }) =>
        `select currency, count(distinct account_id), ${div("sum(amount)", "count(distinct account_id)")} from @invoices group by currency`,
    },
    {
      title: "month to date by day",
      query: { metrics: ["billed_mtd"], by: ["time.day"], where: between("2026-02-27", "2026-03-02") },
      rows: [
        ["2026-02-27", 80],
        ["2026-02-28", 80.3],
        ["2026-03-01", 999.99],
      ],
    },
    {
      title: "year to date restarts on 1 January",
      query: { metrics: ["billed_ytd"], by: ["time.month"] },
      rows: [
        ["2025-12-01", 100.1],
        ["2026-01-01", 130.05],
        ["2026-02-01", 210.35],
        ["2026-03-01", 13130.34],
      ],
    },
    {
      title: "a running total ignores rows without a time",
      query: { metrics: ["billed_so_far"], by: ["time.quarter"] },
      rows: [
        ["2025-10-01", 100.1],
        ["2026-01-01", 13230.44],
      ],
    },
    {
      title: "a trailing window of 30 days",
      query: { metrics: ["billed_30"], by: ["time.day"], where: between("2026-01-29", "2026-02-01") },
      rows: [
        ["2026-01-29", 230.15],
        ["2026-01-30", 130.05],
        ["2026-01-31", 80],
      ],
    },
    {
      title: "growth over the month before, also without rows before",
      query: { metrics: ["growth"], by: ["time.month"] },
      rows: [
        ["2025-12-01", 100.1],
        ["2026-01-01", 29.95],
        ["2026-02-01", -49.75],
        ["2026-03-01", 12839.69],
        [null, 5],
      ],
    },
    {
      title: "a filter on the account keeps no invoice without one",
      query: { metrics: ["billed"], where: [{ field: "account.country", op: "!=", value: "DE" }] },
      sql: "select sum(i.amount) from @invoices i join @accounts a on a.id = i.account_id where a.country <> 'DE'",
    },
    {
      title: "invoices without a country",
      query: { metrics: ["billed", "invoices"], where: [{ field: "account.country", op: "is_null" }] },
      sql: "select sum(i.amount), count(*) from @invoices i left join @accounts a on a.id = i.account_id where a.country is null",
    },
    {
      title: "a metric that filters by another table",
      query: { metrics: ["us_billed", "us_share"], by: ["account.tier"] },
      sql: ({ div }) =>
        `select a.tier, sum(case when a.country = 'US' then i.amount end), ${div("coalesce(sum(case when a.country = 'US' then i.amount end), 0)", "sum(i.amount)")} from @invoices i left join @accounts a on a.id = i.account_id group by a.tier`,
    },
    {
      title: "invoices with a card payment count once",
      query: {
        metrics: ["billed", "invoices"],
        where: [{ field: "payment.method", op: "in", values: ["card", "bank"] }],
      },
      sql: "select sum(amount), count(*) from @invoices i where exists (select 1 from @payments p where p.invoice_id = i.id and p.method in ('card', 'bank'))",
    },
    {
      title: "two conditions hold on the same payment",
      query: {
        metrics: ["invoices"],
        where: [
          { field: "payment.method", op: "=", value: "bank" },
          { field: "payment.paid", until: "2026-01-03" },
        ],
      },
      sql: "select count(*) from @invoices i where exists (select 1 from @payments p where p.invoice_id = i.id and p.method = 'bank' and p.paid_at < '2026-01-03')",
    },
    {
      title: "texts differ by case",
      query: { metrics: ["payments"], by: ["payment.method"] },
      rows: [
        ["card", 3],
        ["bank", 2],
        ["Card", 1],
        [null, 1],
      ],
    },
    {
      title: "texts folded to lower case",
      query: { metrics: ["payments"], by: ["payment.method_folded"] },
      sql: "select lower(method), count(*) from @payments group by lower(method)",
    },
    {
      title: "accounts with an invoice of a currency",
      query: { metrics: ["accounts"], where: [{ field: "invoice.currency", op: "=", value: "USD" }] },
      sql: "select count(*) from @accounts a where exists (select 1 from @invoices i where i.account_id = a.id and i.currency = 'USD')",
    },
    {
      title: "accounts whose paid invoice was by card: through two tables",
      query: { metrics: ["accounts"], where: [{ field: "payment.method", op: "=", value: "card" }] },
      sql: "select count(*) from @accounts a where exists (select 1 from @invoices i join @payments p on p.invoice_id = i.id where i.account_id = a.id and p.method = 'card')",
    },
    {
      title: "the same invoice has the currency and the payment",
      query: {
        metrics: ["accounts"],
        where: [
          { field: "invoice.currency", op: "=", value: "EUR" },
          { field: "payment.amount_never", op: "is_null" },
        ],
      },
      refused: "unknown_name",
    },
    {
      title: "top two currencies, ties broken by name",
      query: {
        metrics: ["invoices"],
        by: ["invoice.currency"],
        order: [{ field: "invoices", descending: true }],
        limit: 2,
      },
      sql: "select currency, count(*) from @invoices group by currency order by count(*) desc, currency limit 2",
    },
    {
      title: "groups kept by a metric that is not shown",
      query: { metrics: ["billed"], by: ["invoice.currency"], where: [{ field: "invoices", op: ">=", value: 2 }] },
      sql: "select currency, sum(amount) from @invoices group by currency having count(*) >= 2",
    },
    {
      title: "an average of a group is not an average of averages",
      query: { metrics: ["mean_invoice"], by: ["account.tier"] },
      sql: "select a.tier, avg(i.amount) from @invoices i left join @accounts a on a.id = i.account_id group by a.tier",
    },
    {
      title: "extremes and the first day",
      query: { metrics: ["largest", "smallest", "first_day"], by: ["invoice.kind"] },
      sql: ({ day }) => `select kind, max(amount), min(amount), ${day("min(issued)")} from @invoices group by kind`,
    },
    {
      title: "a query segment and a measure's own filter both hold",
      query: { metrics: ["credited", "invoices"], segments: ["invoice.large"] },
      sql: "select sum(case when kind = 'credit' then amount end), count(*) from @invoices where amount >= 100",
    },
    {
      title: "an amount of two facts by a field of one is refused",
      query: { metrics: ["billed", "paid"], by: ["payment.method"] },
      refused: "unsafe",
    },
    {
      title: "no rows: a count of zero and a sum of nothing",
      query: {
        metrics: ["billed", "invoices", "payers"],
        where: [{ field: "invoice.currency", op: "=", value: "CHF" }],
      },
      rows: [[null, 0, 0]],
    },
    {
      title: "no rows, grouped",
      query: {
        metrics: ["billed", "invoices"],
        by: ["invoice.kind"],
        where: [{ field: "invoice.currency", op: "=", value: "CHF" }],
      },
      rows: [],
    },
    {
      title: "a computed dimension of a joined table",
      query: { metrics: ["invoices"], where: [{ field: "invoice.euros", op: ">", value: 70 }] },
      sql: "select count(*) from @invoices i left join @rates r on r.day = i.issued and r.currency = i.currency where i.amount * r.rate > 70",
    },
    {
      title: "a share of credits, negated",
      query: { metrics: ["credit_rate"], by: ["time.quarter"] },
      sql: ({ quarter, div }) =>
        `select ${quarter("issued")}, 0 - ${div("coalesce(sum(case when kind = 'credit' then amount end), 0)", "sum(amount)")} from @invoices group by ${quarter("issued")}`,
    },
  ],
};
