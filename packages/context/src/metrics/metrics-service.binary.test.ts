import { metricQuery } from "@tandem/protocol";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MetricStage, openMetricStage, SHOP_FILES } from "./testing/metric-stage.ts";

const { signal } = new AbortController();

describe("metrics of a shop", () => {
  let stage: MetricStage;
  beforeAll(async () => {
    stage = await openMetricStage();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const ask = (query: object) => stage.metrics.query(metricQuery.parse(query), { signal });

  test("are listed with unit, owner and other names, and found by those", async () => {
    const all = await stage.metrics.list();
    expect(all.map(({ name }) => name).toSorted()).toEqual([
      "average_order",
      "customers",
      "lines_sold",
      "orders",
      "revenue",
    ]);
    expect(await stage.metrics.list({ query: "umsatz" })).toEqual([
      {
        name: "revenue",
        connection: "shop",
        entity: "order",
        kind: "simple",
        label: "Revenue",
        description: "Paid and open orders, without cancelled ones.",
        owner: "finance",
        unit: "EUR",
        aka: ["turnover", "Umsatz"],
      },
    ]);
  });

  test("show their definition, version, tables and the fields that fit", async () => {
    const found = await stage.metrics.retrieve({ name: "average_order" });
    expect(found).toMatchObject({
      kind: "ratio",
      path: "metrics/shop/order.yaml",
      version: expect.stringMatching(/^[0-9a-f]{12}$/),
      text: "average_order: { ratio: [revenue, orders], unit: EUR }",
      tables: ["main.orders"],
      uses: ["revenue", "orders"],
      measures: [
        { entity: "order", name: "amount", formula: "sum(cents / 100)", where: ["real"], unit: "EUR" },
        { entity: "order", name: "count", formula: "count(rows)", where: ["real"] },
      ],
      segments: [{ field: "order.real", condition: "status <> 'cancelled'" }],
    });
    expect(found.fields.map(({ field }) => field)).toEqual([
      "time",
      "order.status",
      "order.placed",
      "customer.segment",
    ]);
    expect(found.fields[0]!.granularities).toEqual(["day", "week", "month", "quarter", "year"]);
    expect(found.fields.at(-1)).toMatchObject({ label: "Segment", type: "text", values: ["home", "office"] });
  });

  test("of two facts can be grouped by what both reach", async () => {
    const fields = await stage.metrics.fields({ metrics: ["revenue", "lines_sold"] });
    expect(fields.map(({ field }) => field)).toEqual(["order.status", "order.placed", "customer.segment"]);
  });

  test("are computed by group, with SQL, plan, units and versions", async () => {
    const answer = await ask({ metrics: ["revenue", "orders"], by: ["customer.segment"] });
    expect(answer.rows).toEqual([
      ["home", 30.5, 2],
      ["office", 5, 1],
      [null, 7, 1],
    ]);
    expect(answer.columns).toEqual([
      { name: "customer.segment", kind: "dimension", type: "text", label: "Segment" },
      { name: "revenue", kind: "metric", type: "number", label: "Revenue", unit: "EUR" },
      { name: "orders", kind: "metric", type: "number" },
    ]);
    expect(answer).toMatchObject({ connection: "shop", truncated: false, sql: expect.stringMatching(/^WITH/i) });
    expect(answer.plan).toEqual(["amount, count: one row per order (id of main.orders)."]);
    expect(answer.definitions.map(({ metric, path }) => `${metric} ${path}`)).toEqual([
      "revenue metrics/shop/order.yaml",
      "orders metrics/shop/order.yaml",
    ]);
  });

  test("of several facts are not multiplied by each other", async () => {
    const { rows } = await ask({ metrics: ["revenue", "lines_sold"], by: ["customer.segment"] });
    expect(rows).toEqual([
      ["home", 30.5, 3],
      ["office", 5, 2],
      [null, 7, 1],
    ]);
  });

  test("tell whether the limit cut rows off", async () => {
    const two = { metrics: ["orders"], by: ["customer.segment"], limit: 2 };
    expect(await ask(two)).toMatchObject({ truncated: true, rows: [expect.anything(), expect.anything()] });
    expect(await ask({ ...two, limit: 3 })).toMatchObject({ truncated: false });
  });

  test("are compiled without a database", async () => {
    const query = metricQuery.parse({ metrics: ["revenue"], where: [{ field: "placed", range: "last_month" }] });
    const answer = await stage.metrics.query({ ...query, compile_only: true }, { signal });
    expect(answer).toMatchObject({ rows: [], sql: expect.stringContaining("2026-02-01") });
    expect(answer.elapsed_ms).toBeUndefined();
  });

  test("are refused with a code and a fix", async () => {
    await expect(ask({ metrics: ["revenue"], by: ["line.product"] })).rejects.toMatchObject({
      code: "invalid_request",
      detail: "unsafe",
      fix: expect.stringContaining("filter by line instead"),
    });
    await expect(ask({ metrics: ["revenu"] })).rejects.toMatchObject({
      code: "not_found",
      fix: "Did you mean revenue?",
    });
    await expect(stage.metrics.list({ connection: "shpo" })).rejects.toMatchObject({ code: "not_found" });
    await expect(ask({ metrics: ["umsatz"] })).rejects.toMatchObject({ fix: "Did you mean revenue?" });
  });
});

describe("definitions that cannot be used", () => {
  let stage: MetricStage;
  beforeAll(async () => {
    stage = await openMetricStage();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("a missing column breaks the metric and those built on it, and nothing else", async () => {
    expect(await stage.metrics.check()).toEqual([]);
    const path = "catalogue/shop/main.orders.yaml";
    await stage.write(path, SHOP_FILES[path]!.replace("name: cents", "name: cents_total"));
    const broken = (await stage.metrics.list()).filter((metric) => metric.broken);
    expect(broken.map(({ name }) => name)).toEqual(["revenue", "average_order"]);
    expect(broken.at(-1)!.broken!.message).toBe("The metric revenue is broken: main.orders has no column cents.");
    expect(await stage.metrics.check()).toContainEqual({
      connection: "shop",
      path: "metrics/shop/order.yaml",
      entity: "order",
      name: "amount",
      message: "main.orders has no column cents.",
      fix: "Correct the definition, or scan the database again if the column is new.",
    });
    await expect(stage.metrics.query(metricQuery.parse({ metrics: ["revenue"] }), { signal })).rejects.toMatchObject({
      detail: "broken_definition",
    });
    const { rows } = await stage.metrics.query(metricQuery.parse({ metrics: ["orders"] }), { signal });
    expect(rows).toEqual([[4]]);
    await stage.write(path, SHOP_FILES[path]!);
    expect(await stage.metrics.check()).toEqual([]);
  });

  test("an invalid file is a problem with its line, and a file of an unknown connection another", async () => {
    await stage.write("metrics/shop/line.yaml", "entity: line\ntable: main.lines\ngrian: [id]\n");
    await stage.write("metrics/shop/bad.yaml", "entity: [\n");
    await stage.write("metrics/old/order.yaml", SHOP_FILES["metrics/shop/order.yaml"]!);
    const problems = await stage.metrics.check();
    expect(problems.map(({ path }) => path).toSorted()).toEqual([
      "metrics/old/",
      "metrics/shop/bad.yaml",
      "metrics/shop/line.yaml",
    ]);
    expect(problems.find(({ path }) => path.endsWith("line.yaml"))?.message).toContain("grian");
    expect((await stage.metrics.list()).map(({ name }) => name)).not.toContain("lines_sold");
  });

  test("a text that is not committed has its hash in the version", async () => {
    const text = SHOP_FILES["metrics/shop/order.yaml"]!.replace("label: Revenue", "label: Turnover");
    await writeFile(join(stage.folder.path, "metrics/shop/order.yaml"), text);
    const found = await stage.metrics.retrieve({ name: "revenue" });
    expect(found).toMatchObject({ label: "Turnover", version: expect.stringMatching(/^[0-9a-f]{12}\+[0-9a-f]{8}$/) });
  });
});
