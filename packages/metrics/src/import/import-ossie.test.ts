import { describe, expect, test } from "vitest";
import { askImported, importShop, rowsOf } from "./testing/import-shop.ts";

const sql = (expression: string): string =>
  `{ dialects: [{ dialect: SNOWFLAKE, expression: other }, { dialect: ANSI_SQL, expression: ${JSON.stringify(expression)} }] }`;

const model = (metrics: Record<string, string>, root = true): string => {
  const lines = [
    "name: shop",
    "datasets:",
    "  - name: orders",
    "    source: shop.main.orders",
    "    primary_key: [id]",
    "    fields:",
    `      - { name: placed, expression: ${sql("ordered_at")}, dimension: { is_time: true }, label: Placed }`,
    `      - { name: is_done, expression: ${sql("status = 'done'")}, dimension: {}, ai_context: { synonyms: [finished] } }`,
    `      - { name: state, expression: ${sql("upper(status)")} }`,
    "  - { name: customers, source: main.customers, primary_key: [id] }",
    "  - { name: lines, source: main.lines, primary_key: [order_id, line] }",
    "  - { name: report, source: select 1 }",
    "relationships:",
    "  - { name: orders_to_customers, from: orders, to: customers, from_columns: [customer_id], to_columns: [id] }",
    "  - { name: l_o, from: lines, to: orders, from_columns: [order_id], to_columns: [id] }",
    "metrics:",
    ...Object.entries(metrics).map(
      ([name, text]) => `  - { name: ${name}, expression: ${sql(text)}, description: About ${name}. }`,
    ),
  ];
  if (root) return ["version: 0.2.0.dev0", ...lines].join("\n");
  return [
    "version: 0.2.0.dev0",
    "semantic_model:",
    ...lines.map((line, at) => `${at === 0 ? "  - " : "    "}${line}`),
  ].join("\n");
};

const METRICS = {
  orders: "COUNT(orders.id)",
  buyers: "COUNT(DISTINCT orders.customer_id)",
  revenue: "SUM(lines.amount_cents / 100.0)",
  done_revenue: "SUM(CASE WHEN orders.is_done THEN lines.amount_cents END)",
  home: "COUNT(CASE WHEN customers.segment = 'home' AND orders.state <> 'CANCELLED' THEN orders.id END)",
  per_order: "SUM(lines.amount_cents / 100.0) / NULLIF(COUNT(orders.id), 0)",
};

describe.each([
  ["one model as the document", true],
  ["a list of models", false],
])("%s", (_, root) => {
  test("gives the numbers of its SQL", async () => {
    const imported = await importShop("ossie", [{ path: "shop.yaml", text: model(METRICS, root) }]);
    const [row] = askImported(imported, { metrics: Object.keys(METRICS) });
    const [wanted] = rowsOf(`SELECT (SELECT COUNT(*) FROM orders), (SELECT COUNT(DISTINCT customer_id) FROM orders),
      (SELECT SUM(amount_cents / 100.0) FROM lines),
      (SELECT SUM(amount_cents) FROM lines JOIN orders o ON o.id = order_id WHERE status = 'done'),
      (SELECT COUNT(*) FROM orders o JOIN customers c ON c.id = customer_id WHERE segment = 'home' AND status <> 'cancelled'),
      (SELECT SUM(amount_cents / 100.0) FROM lines) / (SELECT COUNT(*) FROM orders)`);
    expect(row).toEqual(wanted);
    expect(imported.unmapped).toMatchObject(
      [{ item: "dataset report", reason: /query/ }].map(({ item }) => ({ item })),
    );
  });
});

test("fields become dimensions, and computations name the metrics that they use", async () => {
  const { files } = await importShop("ossie", [{ path: "shop.yaml", text: model(METRICS) }]);
  const file = files.find(({ entity }) => entity === "orders")!.file;
  expect(file.dimensions).toEqual({
    placed: { expr: "ordered_at", time: "minute", label: "Placed" },
    is_done: { expr: "status = 'done'", aka: ["finished"] },
  });
  const lines = files.find(({ entity }) => entity === "lines")!.file;
  expect(lines.metrics?.["per_order"]).toEqual({ ratio: ["revenue", "orders"], description: "About per_order." });
});

test.each([
  ["rows of no dataset", "COUNT(*)", /does not say of which dataset/],
  ["two datasets without a join", "SUM(lines.amount_cents * nowhere.rate)", /nowhere/],
  ["a subquery", "SUM(lines.amount_cents) / (SELECT 2)", /subquery/],
  ["a rate that only another database knows", "APPROX_PERCENTILE(lines.amount_cents, 0.9)", /approx_percentile/i],
])("%s is refused", async (_, text, reason) => {
  const { unmapped, metrics } = await importShop("ossie", [{ path: "shop.yaml", text: model({ n: text }) }]);
  expect(metrics).toEqual([]);
  expect(unmapped.find(({ item }) => item === "metric n")?.reason).toMatch(reason);
});
