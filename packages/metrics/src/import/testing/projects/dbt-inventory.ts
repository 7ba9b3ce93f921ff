import { INVENTORY } from "../../../testing/scenarios/inventory.ts";
import type { Project } from "./project.ts";

const over = (name: string, choice: string, groupings: string[] = []) => ({
  name,
  window_choice: choice,
  window_groupings: groupings,
});
const measure = (name: string, agg: string, expr: string | null, time: string, non: object | null = null) => ({
  name,
  agg,
  description: null,
  create_metric: false,
  expr,
  agg_params: null,
  metadata: null,
  non_additive_dimension: non,
  agg_time_dimension: time,
  label: null,
});
const relation = (alias: string) => ({
  alias,
  schema_name: "main",
  database: null,
  relation_name: `"main"."${alias}"`,
});
const dimension = (name: string, expr: string | null = null, grain: string | null = null) => ({
  name,
  description: null,
  type: grain ? "time" : "categorical",
  is_partition: false,
  type_params: grain ? { time_granularity: grain, validity_params: null } : null,
  expr,
  metadata: null,
});
const entity = (name: string, type: string, expr: string) => ({ name, type, expr, description: null, role: null });
const simple = (name: string, input: string, filter: string | null = null) => ({
  name,
  description: null,
  type: "simple",
  type_params: {
    measure: { name: input, filter: null, alias: null, join_to_timespine: false, fill_nulls_with: null },
    input_measures: [],
  },
  filter: filter === null ? null : { where_filters: [{ where_sql_template: filter }] },
  metadata: null,
});

/** Stock and balances in a manifest, as dbt compiles it. */
export const DBT_INVENTORY: Project = {
  name: "inventory in dbt's manifest",
  format: "dbt",
  world: INVENTORY,
  unmapped: [],
  texts: [
    {
      path: "target/semantic_manifest.json",
      text: JSON.stringify({
        semantic_models: [
          {
            name: "snapshots",
            defaults: { agg_time_dimension: "day" },
            description: null,
            node_relation: relation("snapshots"),
            primary_entity: "snapshot",
            entities: [entity("product", "foreign", "product_id"), entity("site", "foreign", "site")],
            measures: [
              measure("stock", "sum", "on_hand", "day", over("day", "max")),
              measure("opening", "sum", "on_hand", "day", over("day", "min")),
              measure("stock_rows", "count", "1", "day"),
            ],
            dimensions: [dimension("day", null, "day")],
            metadata: null,
          },
          {
            name: "products",
            defaults: null,
            description: null,
            node_relation: relation("products"),
            primary_entity: null,
            entities: [entity("product", "primary", "id")],
            measures: [],
            dimensions: [dimension("family"), dimension("product_name", "name")],
            metadata: null,
          },
          {
            name: "sites",
            defaults: null,
            description: null,
            node_relation: relation("sites"),
            primary_entity: null,
            entities: [entity("site", "primary", "code")],
            measures: [],
            dimensions: [dimension("region")],
            metadata: null,
          },
          {
            name: "balances",
            defaults: { agg_time_dimension: "taken_at" },
            description: null,
            node_relation: relation("balances"),
            primary_entity: null,
            entities: [entity("balance", "primary", "id")],
            measures: [measure("balance_cents", "sum", "cents", "taken_at", over("taken_at", "max", ["account"]))],
            dimensions: [dimension("taken_at", null, "day"), dimension("account"), dimension("owner")],
            metadata: null,
          },
        ],
        metrics: [
          simple("stock", "stock"),
          simple("opening", "opening"),
          simple("stock_rows", "stock_rows"),
          simple("metal_stock", "stock", "{{ Dimension('product__family') }} = 'metal'"),
          simple("balance", "balance_cents"),
        ],
        project_configuration: {
          time_spine_table_configurations: [],
          metadata: null,
          dsi_package_version: {},
          time_spines: [],
        },
        saved_queries: [],
      }),
    },
  ],
  scenarios: [
    {
      title: "the last day, by family",
      query: { metrics: ["stock"], by: ["product.family"], where: [{ field: "time", until: "2026-03-02" }] },
      sql: "select p.family, sum(s.on_hand) from @snapshots s left join @products p on p.id = s.product_id where s.day = '2026-03-01' group by p.family",
    },
    {
      title: "the last day of each month",
      query: { metrics: ["stock", "stock_rows"], by: ["time.month"] },
      sql: ({ month }) =>
        `select ${month("s.day")}, sum(case when s.day = x.d then s.on_hand end), count(*) from @snapshots s join (select ${month("day")} m, max(day) d from @snapshots group by ${month("day")}) x on x.m = ${month("s.day")} group by ${month("s.day")}`,
    },
    {
      title: "opening stock",
      query: { metrics: ["opening"] },
      sql: "select sum(on_hand) from @snapshots where day = (select min(day) from @snapshots)",
    },
    {
      title: "a filter before the last day",
      query: { metrics: ["metal_stock"] },
      sql: "select sum(on_hand) from @snapshots where product_id in (1, 2) and day = (select max(day) from @snapshots where product_id in (1, 2))",
    },
    {
      title: "the last balance of each account",
      query: { metrics: ["balance"] },
      sql: "select sum(cents) from @balances b where taken_at = (select max(taken_at) from @balances c where c.account = b.account)",
    },
  ],
};
