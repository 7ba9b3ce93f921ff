import { describe, expect, test } from "vitest";
import { buildModel } from "../build/build-model.ts";
import { metricMeaning } from "../testing/metric-meaning.ts";
import { SHOP_TABLES } from "../testing/shop.ts";
import type { SourceText } from "./imported-project.ts";
import { askImported, importShop, rowsOf } from "./testing/import-shop.ts";
import { DBT_LATEST, DBT_LEGACY, DBT_MANIFEST } from "./testing/dbt-shop.ts";

const imported = await importShop("dbt", DBT_LEGACY);
const fileOf = (entity: string) => imported.files.find((file) => file.entity === entity)!;

describe("a dbt project gives the numbers of its own SQL", () => {
  test.each([
    ["a count of rows", "orders", "SELECT COUNT(*) FROM orders"],
    [
      "filters of two entities",
      "real_orders",
      "SELECT COUNT(*) FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE o.status <> 'cancelled' AND c.is_test = 0",
    ],
    ["count_distinct stays distinct", "buyers", "SELECT COUNT(DISTINCT customer_id) FROM orders"],
    ["sum_boolean", "open_orders", "SELECT SUM(CASE WHEN status = 'open' THEN 1 ELSE 0 END) FROM orders"],
    [
      "a filter by a rounded time",
      "january_orders",
      "SELECT COUNT(*) FROM orders WHERE substr(ordered_at, 1, 7) = '2026-01'",
    ],
    [
      "cents are divided, and the filter of the measure's input is kept",
      "revenue",
      "SELECT SUM(l.amount_cents / 100.0) FROM lines l JOIN orders o ON o.id = l.order_id WHERE o.status != 'cancelled'",
    ],
    [
      "a filter by one of two joins to a table",
      "north_orders",
      "SELECT COUNT(*) FROM orders o JOIN regions r ON r.id = o.ship_to WHERE r.name = 'North'",
    ],
    [
      "a ratio whose numerator has a filter of its own",
      "tea_share",
      `SELECT SUM(CASE WHEN l.product = 'tea' THEN l.amount_cents END) * 1.0 / SUM(l.amount_cents)
       FROM lines l JOIN orders o ON o.id = l.order_id WHERE o.status <> 'cancelled'`,
    ],
    [
      "a derived metric of two facts",
      "unpaid",
      `SELECT (SELECT SUM(l.amount_cents / 100.0) FROM lines l JOIN orders o ON o.id = l.order_id WHERE o.status <> 'cancelled')
       - (SELECT SUM(cents / 100.0) FROM payments)`,
    ],
    ["a semi-additive measure", "stock", "SELECT SUM(on_hand) FROM stock WHERE day = (SELECT MAX(day) FROM stock)"],
  ])("%s", (_, metric, sql) => {
    const [[got]] = askImported(imported, { metrics: [metric] }) as [[number]];
    const [[wanted]] = rowsOf(sql) as [[number]];
    expect(got).toBeCloseTo(wanted, 9);
  });
  test("each measure has its own time", () => {
    expect(askImported(imported, { metrics: ["orders", "shipped"], by: ["time.month"] })).toEqual([
      ["2025-02-01", 1, 0],
      ["2026-01-01", 2, 1],
      ["2026-02-01", 2, 2],
      ["2026-03-01", 1, 0],
      [null, 0, 3],
    ]);
  });
  test("a running total keeps its start, and another its window", () => {
    const where = [{ field: "time", from: "2026-01-01", until: "2026-04-01" }];
    expect(askImported(imported, { metrics: ["orders_to_date"], by: ["time.month"], where })).toEqual([
      ["2026-01-01", 2],
      ["2026-02-01", 4],
      ["2026-03-01", 5],
    ]);
    expect(fileOf("order").file.metrics?.["orders_rolling"]).toEqual({ cumulative: "orders", window: "30 days" });
  });
  test("an earlier period", () => {
    const where = [{ field: "time", from: "2026-01-01", until: "2027-01-01" }];
    expect(askImported(imported, { metrics: ["growth"], by: ["time.year"], where })).toEqual([["2026-01-01", 4]]);
  });
  test("a value for missing rows", () => {
    const where = [{ field: "line.product", op: "=", value: "none" }];
    expect(askImported(imported, { metrics: ["revenue_or_zero", "revenue"], where })).toEqual([[0, null]]);
  });
});

test("labels, descriptions, owners and synonyms are kept", () => {
  expect(fileOf("order").file.metrics?.["orders"]).toEqual({
    measure: "order_count",
    label: "Orders",
    description: "All orders, also cancelled ones.",
    owner: "sales",
    aka: ["purchases", "Bestellungen"],
  });
  expect(fileOf("order").file.dimensions?.["status"]).toEqual({
    label: "Status",
    description: "How far the order is.",
  });
});

test("each definition says where it comes from", () => {
  const { regions, text } = fileOf("order");
  const region = regions.find(({ part }) => part === "metrics.real_orders")!;
  expect(region.source).toEqual({ path: "models/metrics.yml", line: 8 });
  expect(text.split("\n").slice(region.from - 1, region.to)).toEqual([
    "  # from dbt models/metrics.yml",
    "  real_orders:",
    "    measure: order_count",
    "    where:",
    "      - status <> 'cancelled'",
    "      - not customer.is_test",
  ]);
});

test("the manifest's own positions are the evidence", async () => {
  const { files } = await importShop("dbt", DBT_MANIFEST);
  const regions = files.flatMap((file) => file.regions);
  expect(regions.find(({ part }) => part === "metrics.orders")?.source).toEqual({
    path: "models/metrics.yml",
    line: 2,
  });
});

test("parts without a counterpart are listed, with file and line", () => {
  expect(imported.unmapped.map(({ path, line, item, reason }) => `${path}:${line} ${item}: ${reason}`)).toEqual([
    "models/semantic/lines.yml:11 measure p90: Of percentiles, only the exact continuous median has a counterpart.",
    "models/metrics.yml:63 metric visit_to_buy: A conversion metric has no counterpart.",
    "models/metrics.yml:70 metric high_price: Its measure p90 does not exist or was skipped.",
    "models/metrics.yml:66 metric big_spenders: A filter by the value of a metric has no counterpart in definitions.",
  ]);
  expect(imported.asked).toEqual([]);
  expect(imported.notes.map(({ item }) => item)).toEqual([
    "metric orders_rolling",
    "growth, revenue_or_zero, order_value, tea_share, unpaid",
  ]);
});

test("rows of a semi-additive measure are kept per a key that no other model has", async () => {
  const text = `semantic_models:
  - name: stock
    model: ref('stock')
    primary_entity: stock_day
    defaults: { agg_time_dimension: day }
    entities: [{ name: item, type: foreign, expr: product }]
    dimensions: [{ name: day, type: time, type_params: { time_granularity: day } }]
    measures:
      - { name: on_hand, agg: sum, non_additive_dimension: { name: day, window_choice: max, window_groupings: [item] }, create_metric: true }
`;
  const result = await importShop("dbt", [{ path: "stock.yml", text }]);
  // Of each product its own last day: 9 of tea and 7 of cups.
  expect(askImported(result, { metrics: ["on_hand"] })).toEqual([[16]]);
});

describe("the three ways in which a project is written mean the same", () => {
  const modelOf = async (texts: readonly SourceText[]) => {
    const { files, unmapped } = await importShop("dbt", texts);
    return {
      unmapped,
      model: buildModel({ dialect: "sqlite", files: files.map(({ file }) => file), tables: SHOP_TABLES }),
    };
  };
  test.each([
    ["the latest spec", DBT_LATEST],
    ["the manifest", DBT_MANIFEST],
  ])("%s", async (_, texts) => {
    const { model, unmapped } = await modelOf(texts);
    const legacy = await modelOf(DBT_LEGACY);
    expect(unmapped).toEqual([]);
    expect([...model.metrics.keys()]).not.toEqual([]);
    for (const name of model.metrics.keys()) {
      expect([name, metricMeaning(model, name)]).toEqual([name, metricMeaning(legacy.model, name)]);
    }
  });
});

describe("questions and refusals", () => {
  const model = (change: string, metrics = "") => [
    {
      path: "m.yml",
      text: `semantic_models:
  - name: orders
    model: ref('orders')
    defaults: { agg_time_dimension: ordered_at }
${change}
    dimensions: [{ name: ordered_at, type: time, type_params: { time_granularity: day } }, { name: status, type: categorical }]
    measures: [{ name: n, agg: count, expr: 1 }]
metrics:
  - { name: n, type: simple, type_params: { measure: n } }
${metrics}`,
    },
  ];
  const PRIMARY = "    entities: [{ name: order, type: primary, expr: id }]";

  test("a key that the catalogue has not verified holds the whole entity back", async () => {
    const { asked, files, unmapped } = await importShop(
      "dbt",
      model("    entities: [{ name: order, type: primary, expr: customer_id }]"),
    );
    expect(files).toEqual([]);
    expect(unmapped).toEqual([]);
    expect(asked).toMatchObject([
      {
        line: 2,
        question: "Does (customer_id) identify a row of main.orders? The catalogue has not verified it.",
        holds: ["metric n"],
      },
    ]);
  });
  test("a join that the catalogue has not accepted holds back what needs it", async () => {
    const { asked, metrics } = await importShop("dbt", [
      ...model(
        "    entities: [{ name: order, type: primary, expr: id }, { name: line, type: foreign, expr: status }]",
        `  - { name: tea, type: simple, type_params: { measure: n }, filter: "{{ Dimension('line__product') }} = 'tea'" }`,
      ),
      {
        path: "l.yml",
        text: "semantic_models: [{ name: stock, model: ref('stock'), entities: [{ name: line, type: unique, expr: product }], dimensions: [{ name: product, type: categorical }] }]",
      },
    ]);
    expect(metrics).toEqual(["n"]);
    expect(asked).toMatchObject([
      {
        question: "Does main.orders (status) refer to main.stock (product)? The catalogue has no such accepted join.",
        holds: ["metric tea"],
      },
    ]);
  });
  test.each([
    ["raw SQL in a filter", "status = 'x'", /names status without a template/],
    ["a template inside a text", "'{{ Dimension('order__status') }}' = 'x'", /cannot be parsed|inside a text/],
    ["an unknown dimension", "{{ Dimension('order__colour') }} = 'x'", /order__colour is no dimension/],
    ["a subquery", "{{ Dimension('order__status') }} in (select 1)", /has no counterpart/],
    ["today", "{{ TimeDimension('order__ordered_at', 'day') }} >= current_date", /current_date/],
    ["a statement of Jinja", "{% if true %} 1 = 1 {% endif %}", /Jinja statements/],
  ])("a filter with %s refuses its metric, and is never dropped", async (_, filter, reason) => {
    const metric = `  - { name: f, type: simple, type_params: { measure: n }, filter: ${JSON.stringify(filter)} }`;
    const { metrics, unmapped } = await importShop("dbt", model(PRIMARY, metric));
    expect(metrics).toEqual(["n"]);
    expect(unmapped).toMatchObject([{ path: "m.yml", line: 10, item: "metric f" }]);
    expect(unmapped[0]?.reason).toMatch(reason);
  });
  test.each([
    [
      "offset_to_grain",
      "type: derived, type_params: { expr: n - b, metrics: [n, { name: n, alias: b, offset_to_grain: month }] }",
    ],
    [
      "a period's average",
      "type: cumulative, type_params: { measure: n, cumulative_type_params: { period_agg: average } }",
    ],
    ["a key that the import does not know", "type: simple, type_params: { measure: { name: n, sample: 10 } }"],
    ["another one at the metric", "type: simple, disabled_by: me, type_params: { measure: n }"],
  ])("%s refuses its metric", async (_, text) => {
    const { metrics, unmapped } = await importShop("dbt", model(PRIMARY, `  - { name: f, ${text} }`));
    expect(metrics).toEqual(["n"]);
    expect(unmapped).toMatchObject([{ item: "metric f" }]);
  });
  test("a division that the database truncates is refused", async () => {
    const text = model(PRIMARY)[0]!.text.replace("expr: 1 }", "expr: 1 }, { name: tens, agg: sum, expr: id / 10 }");
    const { unmapped, files } = await importShop("dbt", [{ path: "m.yml", text }]);
    expect(unmapped).toMatchObject([
      {
        item: "measure orders.tens",
        reason: "Whole numbers are divided: sqlite drops the fraction, and metrics keep it.",
      },
    ]);
    expect(files[0]?.file.measures).not.toHaveProperty("tens");
  });
  test("an entity that is called after its key column gets the name of its model", async () => {
    const { files } = await importShop("dbt", model("    entities: [{ name: id, type: primary }]"));
    expect(files.map(({ entity }) => entity)).toEqual(["orders"]);
  });
  test("two measures of one name are not mixed up", async () => {
    const other =
      "semantic_models: [{ name: c, model: ref('customers'), entities: [{ name: c, type: primary, expr: id }], measures: [{ name: n, agg: count, expr: 1 }] }]";
    const { unmapped } = await importShop("dbt", [...model(PRIMARY), { path: "c.yml", text: other }]);
    expect(unmapped).toMatchObject([{ item: "metric n", reason: "Several semantic models have a measure n." }]);
  });
});
