import { afterAll, beforeAll, expect, test } from "vitest";
import { type MetricStage, openMetricStage } from "../metrics/testing/metric-stage.ts";
import { ContextSearch } from "../search/context-search.ts";
import { createContextTools } from "./context-tools.ts";
import { type ContextTool, answerForModel } from "../context-tool.ts";

let stage: MetricStage;
let search: ContextSearch;
let tools: ContextTool[];
beforeAll(async () => {
  stage = await openMetricStage();
  const { folder, store, catalogue, metrics, connections } = stage;
  search = new ContextSearch({ folder, store });
  tools = createContextTools({ folder, search, catalogue, metrics, connections });
});
afterAll(() => stage[Symbol.asyncDispose]());

const tool = (name: string) => tools.find((each) => each.name === name)!;
const ask = (name: string, input: unknown) =>
  tool(name).run(input, { signal: new AbortController().signal, by: "a test" });

test("a metric is found by its synonym, with the fields to query it by", async () => {
  const { markdown, structured } = await ask("metric_search", { query: "Umsatz" });
  expect(structured).toMatchObject({
    total: 1,
    metrics: [
      {
        name: "revenue",
        unit: "EUR",
        fields: expect.arrayContaining([{ field: "customer.segment", type: "text", values: ["home", "office"] }]),
      },
    ],
  });
  expect(markdown).toContain("`revenue` in EUR");
  expect((await ask("metric_search", {})).structured).toMatchObject({ total: 5 });
  expect((await ask("metric_search", { query: "customer churn" })).structured).toMatchObject({
    metrics: [{ name: "customers" }],
  });
});

test("a query returns rows, plan and versions, or only the SQL", async () => {
  const query = { metrics: ["average_order"], by: ["time.month"], where: [{ field: "time", from: "2026-02-01" }] };
  const output = await ask("metric_query", query);
  expect(output.structured).toMatchObject({ rows: [["2026-02-01", expect.closeTo(10.8333, 3)]] });
  expect(output.markdown).toContain("| time.month | average_order (EUR) |");
  expect(output.markdown).toMatch(/Defined in metrics\/shop\/order\.yaml \([0-9a-f]{12}\)\./);
  expect(answerForModel(tool("metric_query"), output)).toMatch(/^<result-/);
  const compiled = await ask("metric_query", { ...query, compile_only: true });
  expect(compiled.markdown).toContain("```sql\nWITH");
});

test("an unsafe query is refused with the reason", async () => {
  await expect(ask("metric_query", { metrics: ["orders"], by: ["line.product"] })).rejects.toThrow(
    "A row of order can have several rows of line",
  );
  await expect(ask("metric_query", { metrics: ["orders"], where: ["1 = 1"] })).rejects.toThrow(
    "The input does not fit",
  );
});

test("search, overview and table description name metrics", async () => {
  expect(await search.search({ text: "turnover", limit: 3 })).toMatchObject([
    { key: "metric:shop/revenue", kind: "metric", title: "Revenue (revenue)" },
  ]);
  expect((await ask("context_overview", {})).structured).toMatchObject({ counts: { metrics: 5 } });
  const { markdown, structured } = await ask("table_describe", { table: "orders" });
  const names = (structured["metrics"] as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(["revenue", "orders", "average_order"]);
  expect(markdown).toContain("- revenue: Paid and open orders, without cancelled ones.");
});
