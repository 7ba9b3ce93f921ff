import { expect, it } from "vitest";
import { itemPaths, listed, makeFiles, skippedCodes, textOf } from "../testing/make-files.ts";

const SCHEMA = `
version: 2
models:
  - name: orders
    description: "{{ doc('orders') }}"
    config: {tags: [core]}
    tests:
      - dbt_utils.unique_combination_of_columns: {combination_of_columns: [order_id, line]}
    columns:
      - name: order_id
        description: Key | of the order
        data_tests: [unique, not_null]
      - name: customer_id
        tests:
          - relationships: {to: ref('customers'), field: id}
      - name: status
        data_tests:
          - accepted_values: {arguments: {values: [paid, open]}}
  - name: customers
sources:
  - name: raw
    schema: landing
    tables: [{name: orders, description: As it comes from the shop}]
exposures:
  - name: weekly
    type: dashboard
    owner: {name: Ann, email: ann@shop.test}
    depends_on: [ref('orders')]
`;

const DOCS = `{% docs orders %}One row per order. {{ doc('terms') }}{% enddocs %}
{% docs terms %}Paid is paid in full. {{ doc('orders') }}{% enddocs %}
{% docs loose %}Nobody names me.{% enddocs %}`;

const FILES = {
  "dbt_project.yml": "name: shop\nmodels:\n  shop: {+materialized: table}\n",
  "models/schema.yml": SCHEMA,
  "models/docs.md": DOCS,
  "models/orders.sql":
    "select * from {{ source('raw', 'orders') }} join {{ ref('customers') }} using (customer_id) where mail <> 'ann@shop.test'",
  "models/customers.sql": "select 1 as id",
  "macros/cents.sql": "{% macro cents() %}1{% endmacro %}",
  "target/run/models/orders.sql": "compiled",
};

it("reads the files without a manifest, and reports that", async () => {
  await using files = await makeFiles(FILES);
  const entries = await listed(files.source({ type: "dbt" }));
  expect(skippedCodes(entries)).toEqual({ "target/manifest.json": "no_manifest" });
  expect(itemPaths(entries).toSorted()).toEqual([
    "docs/loose",
    "exposures/weekly",
    "models/customers.sql",
    "models/orders.sql",
    "sources/raw.orders",
  ]);
  const orders = await textOf(entries, "models/orders.sql");
  // Docs blocks that refer to each other terminate.
  expect(orders).toContain("One row per order. Paid is paid in full.");
  expect(orders).toContain("- Built from: `raw.orders`, `customers`");
  expect(orders).toContain("| order_id |  | Key \\| of the order | unique, not_null |");
  expect(orders).toContain("| status |  |  | one of paid, open |");
  expect(orders).toContain("- `orders.customer_id` refers to `customers.id` (relationships test)");
  expect(orders).toContain("- unique (order_id, line)");
  expect(orders).not.toContain("ann@shop.test");
  expect(await textOf(entries, "sources/raw.orders")).toContain("- Table: `landing.orders`");
  expect(await textOf(entries, "exposures/weekly")).toContain("- Built from: `orders`");
});

it("skips broken YAML and keeps the other files", async () => {
  await using files = await makeFiles({ ...FILES, "models/broken.yml": "models: [{name: x" });
  const entries = await listed(files.source({ type: "dbt" }));
  expect(skippedCodes(entries)).toMatchObject({ "models/broken.yml": "broken" });
  expect(itemPaths(entries)).toContain("models/orders.sql");
});

const node = (type: string, name: string, more: object = {}) => ({
  resource_type: type,
  name,
  unique_id: `${type}.shop.${name}`,
  package_name: "shop",
  original_file_path: `models/${name}.sql`,
  ...more,
});

const manifestOf = (generatedAt: string) =>
  JSON.stringify({
    metadata: { project_name: "shop", generated_at: generatedAt },
    nodes: {
      "model.shop.orders": node("model", "orders", {
        description: "One row per order.",
        relation_name: '"db"."main"."orders"',
        columns: { customer_id: { name: "customer_id", description: "Who", data_type: "int" } },
        depends_on: { nodes: ["source.shop.raw.orders"] },
        raw_code: "select 1",
      }),
      "model.utils.dates": node("model", "dates", { package_name: "utils" }),
      "test.shop.rel": node("test", "rel", {
        test_metadata: {
          name: "relationships",
          kwargs: {
            column_name: "customer_id",
            to: "ref('customers')",
            field: "id",
            model: "{{ get_where_subquery(ref('orders')) }}",
          },
        },
        column_name: "customer_id",
        attached_node: "model.shop.orders",
      }),
    },
    sources: { "source.shop.raw.orders": node("source", "orders", { source_name: "raw" }) },
  });

it("a regenerated manifest of the same project changes nothing", async () => {
  await using files = await makeFiles({ ...FILES, "target/manifest.json": manifestOf("today") });
  const entries = await listed(files.source({ type: "dbt" }));
  expect(skippedCodes(entries)).toEqual({});
  expect(itemPaths(entries)).toEqual(["models/orders.sql", "sources/raw.orders"]);
  const orders = await textOf(entries, "models/orders.sql");
  expect(orders).toContain("- Table: `db.main.orders`");
  expect(orders).toContain("| customer_id | int | Who |  |");
  expect(orders).toContain("- `orders.customer_id` refers to `customers.id` (relationships test)");
  await files.write("target/manifest.json", manifestOf("tomorrow"));
  expect(await textOf(await listed(files.source({ type: "dbt" })), "models/orders.sql")).toBe(orders);
});

it.each(["{", '{"nodes": 1}'])("takes the files instead of a manifest that is %s", async (broken) => {
  await using files = await makeFiles({ ...FILES, "target/manifest.json": broken });
  const entries = await listed(files.source({ type: "dbt" }));
  expect(skippedCodes(entries)).toEqual({ "target/manifest.json": "broken" });
  expect(itemPaths(entries)).toContain("models/orders.sql");
});
