import { afterAll, expect, test } from "vitest";
import { makeUpContext } from "../../../testing/made-up-context.ts";
import { MemoryEngine } from "../../../testing/memory-engine.ts";
import { startTestServer } from "../../../testing/start-test-server.ts";

const CUSTOMERS = `entity: customer
table: main.customers
grain: [id]
dimensions:
  city: { label: City }
measures:
  people: { count: rows, unit: people }
  rich: { sum: income }
metrics:
  customers: { measure: people, label: Customers, aka: [buyers] }
  income: { measure: rich }
`;

const context = await makeUpContext();
const file = { path: "metrics/shop/customer.yaml", content: CUSTOMERS, expected: null };
await context.context.folder.commit([file], { subject: "A metric" });
const server = await startTestServer({ engine: new MemoryEngine().engine, context });
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await context[Symbol.asyncDispose]();
});

interface Answer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

async function ask(path: string, body?: object): Promise<Answer> {
  const response = await server.request(path, {
    ...(body && { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, body: await response.json() };
}

test("metrics are listed, described and checked", async () => {
  const { body } = await ask("/v1/context/metrics");
  expect(body.data).toEqual([
    expect.objectContaining({ name: "customers", label: "Customers", unit: "people", aka: ["buyers"] }),
    expect.objectContaining({ name: "income", broken: expect.objectContaining({ message: expect.any(String) }) }),
  ]);
  expect((await ask("/v1/context/metric?name=customers")).body).toMatchObject({
    tables: ["main.customers"],
    fields: [{ field: "customer.city", type: "text" }],
  });
  expect((await ask("/v1/context/metrics/fields?metrics=customers")).body.data).toHaveLength(1);
  expect((await ask("/v1/context/metrics/check")).body.data[0]).toMatchObject({ name: "rich" });
  expect((await ask("/v1/context/metric?name=costomers")).body.error).toMatchObject({ fix: "Did you mean customers?" });
});

test("a query is compiled and run, and a refusal names its code", async () => {
  const query = { metrics: ["customers"], where: [{ field: "city", op: "=", value: "Bern" }] };
  expect((await ask("/v1/context/metrics/query", query)).body).toMatchObject({ rows: [[42]], connection: "shop" });
  expect((await ask("/v1/context/metrics/query", { ...query, compile_only: true })).body).toMatchObject({
    rows: [],
    sql: expect.stringContaining("'Bern'"),
    definitions: [{ metric: "customers", path: "metrics/shop/customer.yaml" }],
  });
  expect(await ask("/v1/context/metrics/query", { metrics: ["customers"], by: ["customer.size"] })).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("no dimension size"), details: { error_code: "unknown_name" } } },
  });
});
