import { mkdir, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { scannedMachine } from "../../testing/scanned-shop.ts";

const FILES = {
  "customer.yaml": `entity: customer
table: main.customers
grain: [id]
dimensions: { city: }
measures: { people: { count: rows, unit: people } }
metrics: { customers: { measure: people, aka: [buyers] } }
`,
  "order.yaml": `entity: order
table: main.orders
grain: [id]
dimensions: { note: }
measures: { count: { count: rows } }
metrics:
  orders: { measure: count, label: Orders }
  orders_each: { ratio: [orders, customers] }
`,
};

const machine = await scannedMachine();
const metricsFile = (name: string) => machine.folder.join("project", "context", "metrics", "shop", name);
await mkdir(metricsFile(""), { recursive: true });
for (const [name, text] of Object.entries(FILES)) await writeFile(metricsFile(name), text);

describe("tandem metrics", () => {
  test("lists and shows definitions with their version", async () => {
    const { stdout } = await machine.run(["metrics"]);
    expect(stdout).toMatch(/customers +people +simple +customer/);
    const shown = await machine.run(["metrics", "show", "orders_each"]);
    expect(shown.stdout).toContain("ratio: [orders, customers]");
    expect(shown.stdout).toMatch(/metrics\/shop\/order\.yaml at [0-9a-f]{12}|uncommitted\+[0-9a-f]{8}/);
    expect(shown.stdout).toMatch(/customer\.city +text/);
  });

  test("computes metrics by a field, with filters", async () => {
    const query = ["metrics", "query", "customers", "orders", "--by", "customer.city", "--order", "orders:desc"];
    const { code, stdout, stderr } = await machine.run(query);
    expect([code, stdout]).toEqual([0, expect.stringContaining("customer.city  customers (people)  orders")]);
    expect(stdout).toMatch(/Bern +2 +3\nZürich +1 +0/);
    expect(stderr).toContain("metrics/shop/order.yaml at ");
    const filtered = await machine.run([...query, "--where", "customer.city != Bern", "--json"]);
    expect(JSON.parse(filtered.stdout)).toMatchObject({ rows: [["Zürich", 1, 0]], plan: expect.any(Array) });
  });

  test("prints the SQL alone with --compile-only", async () => {
    const { stdout } = await machine.run([
      "metrics",
      "query",
      "orders",
      "--where",
      "note contains bike",
      "--compile-only",
    ]);
    expect(stdout).toMatch(/^WITH[\s\S]+LIMIT 1000\n$/);
  });

  test("names the nearest name, and refuses a filter that is none", async () => {
    const unknown = await machine.run(["metrics", "query", "customers", "--by", "customer.ctiy"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("Did you mean city?")]);
    const filter = await machine.run(["metrics", "query", "orders", "--where", "1=1; drop table orders"]);
    expect([filter.code, filter.stderr]).toEqual([2, expect.stringContaining("is no filter")]);
    const none = await machine.run(["metrics", "query"]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("Usage: tandem metrics query")]);
  });

  test("check fails on a definition that cannot be used", async () => {
    expect(await machine.run(["metrics", "check"])).toMatchObject({ code: 0, stdout: "3 metrics, no problems.\n" });
    await writeFile(metricsFile("order.yaml"), FILES["order.yaml"].replace("note:", "rating:"));
    const { code, stdout } = await machine.run(["metrics", "check"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("main.orders has no column rating.")]);
  });
});
