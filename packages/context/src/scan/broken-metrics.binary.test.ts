import { expect, test } from "vitest";
import { MetricsReader } from "../metric-definitions/metrics-reader.ts";
import { Metrics } from "../metrics/metrics-service.ts";
import { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import { openScanStage } from "./testing/scan-stage.ts";

const ORDER = `entity: order
table: main.orders
grain: [id]
measures: { amount: { sum: cents }, count: { count: rows } }
metrics: { revenue: { measure: amount }, orders: { measure: count } }
`;

test("a scan names the metrics that a dropped column breaks, once", async () => {
  await using stage = await openScanStage("CREATE TABLE orders (id INTEGER PRIMARY KEY, cents INTEGER, note TEXT)");
  await stage.scan();
  const { folder } = stage.context;
  await folder.commit([{ path: "metrics/shop/order.yaml", expected: null, content: ORDER }], { subject: "Metrics" });
  const reader = new MetricsReader(folder, () => new Map([["shop", "sqlite"]]));
  const open = () => Promise.reject(new Error("no database is needed"));
  stage.context.metrics = new Metrics({ folder, catalogue: new CatalogueReader(folder), reader, open });
  expect((await stage.scan()).result.brokenMetrics).toEqual([]);

  stage.database.exec("ALTER TABLE orders DROP COLUMN cents");
  const { result } = await stage.scan();
  expect(result.brokenMetrics).toEqual([
    {
      name: "revenue",
      path: "metrics/shop/order.yaml",
      message: "The measure amount is broken: main.orders has no column cents.",
      fix: "Correct the definition, or scan the database again if the column is new.",
    },
  ]);
  expect((await stage.scan()).result.brokenMetrics).toEqual([]);
});
