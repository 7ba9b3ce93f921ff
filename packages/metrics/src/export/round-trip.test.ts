import { stringify } from "yaml";
import { describe, expect, inject, test } from "vitest";
import { importMetrics } from "../import/import-metrics.ts";
import type { ImportFormat } from "../import/imported-project.ts";
import { buildModel } from "../build/build-model.ts";
import type { CataloguedTable } from "../model/catalogued-table.ts";
import { type MetricsFile, metricsFile } from "../model/metrics-file.ts";
import { metricMeaning } from "../testing/metric-meaning.ts";
import { catalogued, randomCase } from "../testing/random-case.ts";
import { SHOP_FILES, SHOP_TABLES } from "../testing/shop.ts";
import { exportMetricFlow } from "./export-metricflow.ts";
import { exportOssie } from "./export-ossie.ts";

/** Exports files, imports them again, and compares what each metric computes. Returns the metrics that came back. */
async function roundTrip(
  format: Exclude<ImportFormat, "ktx">,
  files: readonly MetricsFile[],
  tables: readonly CataloguedTable[],
) {
  const model = buildModel({ dialect: "sqlite", files, tables });
  const { document, notHeld } = format === "dbt" ? exportMetricFlow(files, model) : exportOssie("shop", files, model);
  const texts = [{ path: "export.yml", text: stringify(document, { aliasDuplicateObjects: false }) }];
  const { files: back, unmapped, asked } = await importMetrics({ format, texts, dialect: "sqlite", tables });
  expect(unmapped).toEqual([]);
  expect(asked).toEqual([]);
  const again = buildModel({ dialect: "sqlite", files: back.map(({ file }) => file), tables });
  const items = new Set(notHeld.map(({ item }) => item));
  const held = [...model.metrics.keys()].filter((name) => !items.has(`metric ${name}`));
  for (const name of held) {
    const options = { ignoresTime: format === "ossie", rowsAreKeys: format === "ossie" };
    expect([name, metricMeaning(again, name, options)]).toEqual([name, metricMeaning(model, name, options)]);
  }
  return { held, notHeld, back: back.map(({ file }) => file) };
}

/** Definitions that MetricFlow can hold in full. */
const HELD = [
  {
    entity: "customer",
    description: "One row per customer.",
    table: "main.customers",
    grain: ["id"],
    dimensions: { segment: { label: "Segment", aka: ["group"] }, is_test: {} },
  },
  {
    entity: "order",
    table: "main.orders",
    grain: ["id"],
    time: "placed",
    dimensions: {
      placed: { expr: "ordered_at", time: "day" },
      shipped: { expr: "shipped_at", time: "week" },
      status: { description: "How far it is." },
      late: { expr: "case when status = 'open' then 1 else 0 end" },
    },
    measures: {
      count: { count: "rows" },
      sent: { count: "id", time: "shipped", where: ["status <> 'cancelled'", "shipped_at is not null"] },
      buyers: { count_distinct: "customer_id", description: "Each once." },
      share: { average: "case when status in ('done', 'open') then 1 else 0 end", unit: "%" },
    },
    metrics: {
      orders: { measure: "count", label: "Orders", owner: "sales", aka: ["purchases"], page: "metrics/orders" },
      open: { measure: "count", where: ["status = 'open'", "not customer.is_test"], unit: "pieces" },
      sent: { measure: "sent" },
      per_buyer: { ratio: ["orders", "buyers"] },
      buyers: { measure: "buyers" },
      change: { derived: "orders / earlier - 1", with: { earlier: { metric: "orders", offset: "1 year" } } },
      open_so_far: { cumulative: "open", to: "year" },
      last_month: { cumulative: "orders", window: "30 days" },
    },
  },
].map((file) => metricsFile.parse(file));

describe("MetricFlow", () => {
  test("everything that it can hold comes back equal", async () => {
    const { back, notHeld } = await roundTrip("dbt", HELD, SHOP_TABLES);
    expect(back).toEqual(HELD);
    expect(notHeld.map(({ item }) => item)).toEqual([
      "role customer.customer",
      "ratio and derived metrics: missing inputs",
    ]);
  });
  test("the shop: what it cannot hold is listed, with all that depends on it", async () => {
    const { held, notHeld } = await roundTrip("dbt", SHOP_FILES, SHOP_TABLES);
    expect(held).toEqual(["customers", "orders", "real_orders", "cancelled", "cancel_rate", "paid", "stock"]);
    expect(notHeld.map(({ item }) => item)).toEqual(
      expect.arrayContaining([
        "role customer.referrer",
        "dimension order.placed: zone",
        "segment order.real",
        "measure line.amount",
        "metric revenue",
        "metric order_value",
        "metric doubled",
        "measure stock.each",
      ]),
    );
  });
  test("generated models", async () => {
    for (let seed = 1; seed <= (inject("soak") ? 200 : 2); seed += 1) {
      const { files, tables } = catalogued(randomCase(seed), "sqlite", "main");
      const { held, notHeld } = await roundTrip("dbt", files, tables);
      const all = files.flatMap(({ metrics = {} }) => Object.keys(metrics));
      const lost = all.filter((name) => !held.includes(name));
      // A measure that is averaged over times, or kept per a column that is no key.
      expect(lost.every((name) => /_(latest_each|typical)$/.test(name))).toBe(true);
      for (const name of lost) expect(notHeld.map(({ item }) => item)).toContain(`metric ${name}`);
    }
  });
});

describe("Apache Ossie", () => {
  test("the shop", async () => {
    const { held, notHeld } = await roundTrip("ossie", SHOP_FILES, SHOP_TABLES);
    expect(held).toEqual([
      "customers",
      "orders",
      "real_orders",
      "cancelled",
      "cancel_rate",
      "revenue",
      "tea_revenue",
      "order_value",
      "unpaid",
      "doubled",
      "paid",
    ]);
    expect(notHeld.map(({ item }) => item)).toEqual(
      expect.arrayContaining([
        "metric growth",
        "metric year_to_date",
        "metric stock",
        "segment order.real",
        "entity order: time",
        "dimension order.placed: zone",
        "dimension order.placed: day",
        "measure line.amount: unit",
      ]),
    );
  });
  test("labels, owners and units are listed; synonyms are held", async () => {
    const { back, notHeld } = await roundTrip("ossie", HELD, SHOP_TABLES);
    expect(back.find(({ entity }) => entity === "order")?.metrics?.["orders"]).toMatchObject({ aka: ["purchases"] });
    expect(notHeld.map(({ item }) => item)).toEqual(
      expect.arrayContaining([
        "metric orders: label",
        "metric orders: owner",
        "metric orders: page",
        "metric open: unit",
      ]),
    );
  });
  test("generated models", async () => {
    for (let seed = 11; seed <= (inject("soak") ? 200 : 12); seed += 1) {
      const { files, tables } = catalogued(randomCase(seed), "sqlite", "main");
      const { held } = await roundTrip("ossie", files, tables);
      expect(held.length).toBeGreaterThan(0);
    }
  });
});
