import { mkdir, readFile, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { scannedMachine } from "../../testing/scanned-shop.ts";

const MODELS = `semantic_models:
  - name: orders
    model: ref('orders')
    entities:
      - { name: order, type: primary, expr: id }
      - { name: customer, type: foreign, expr: customer_id }
    dimensions:
      - { name: note, type: categorical }
    measures:
      - { name: order_count, agg: count, expr: 1 }
  - name: customers
    model: ref('customers')
    entities: [{ name: customer, type: primary, expr: id }]
    dimensions: [{ name: city, type: categorical }]
metrics:
  - name: orders
    type: simple
    type_params: { measure: order_count }
    config: { meta: { owner: sales } }
  - name: bern_orders
    type: simple
    type_params: { measure: order_count }
    filter: "{{ Dimension('customer__city') }} = 'Bern'"
  - name: visits
    type: conversion
    type_params: {}
`;

const machine = await scannedMachine();
const models = () => machine.folder.join("project", "dbt", "models", "shop.yml");
const order = () => machine.folder.join("project", "context", "metrics", "shop", "order.yaml");
await mkdir(machine.folder.join("project", "dbt", "models"), { recursive: true });
await writeFile(models(), MODELS);
await machine.run(["context", "proposals", "accept", "last", "--yes"]);

test("a dry run lists what fits and what does not, and proposes nothing", async () => {
  const { code, stdout } = await machine.run(["metrics", "import", "dbt", "--dry-run"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("2 metrics of the dbt project fit shop.")]);
  expect(stdout).toMatch(/metrics\/shop\/order\.yaml +new +4 definitions/);
  expect(stdout).toContain("models/shop.yml:24 metric visits: A conversion metric has no counterpart.");
  expect(stdout).toContain("Nothing was proposed (--dry-run).");
});

test("a proposal has file and line as evidence, and gives the numbers once a person accepts it", async () => {
  const { stdout } = await machine.run(["metrics", "import", "dbt", "--json"]);
  const { proposal } = JSON.parse(stdout) as { proposal: string };
  expect(await machine.run(["metrics", "query", "orders"])).toMatchObject({ code: 2 });
  const shown = await machine.run(["context", "proposals", "show", proposal]);
  expect(shown.stdout).toContain("models/shop.yml:20");
  expect((await machine.run(["context", "proposals", "accept", proposal, "--yes"])).code).toBe(0);
  const answer = await machine.run(["metrics", "query", "orders", "bern_orders", "--json"]);
  expect(JSON.parse(answer.stdout)).toMatchObject({ rows: [[3, 3]] });
  expect((await machine.run(["metrics", "check"])).stdout).toBe("2 metrics, no problems.\n");
});

test("another import updates its own definitions, and keeps what a person has edited", async () => {
  expect((await machine.run(["metrics", "import", "dbt"])).stdout).toContain("Nothing to propose");
  const text = await readFile(order(), "utf8");
  await writeFile(order(), text.replace("owner: sales", "owner: finance"));
  await writeFile(models(), MODELS.replace("owner: sales", "owner: marketing").replace("'Bern'", "'Zürich'"));
  const { stdout } = await machine.run(["metrics", "import", "dbt"]);
  expect(stdout).toContain("metric orders: A person has edited it in the context. That definition is kept.");
  expect(stdout).toMatch(/order\.yaml +changed +1 definition/);
  const [, proposal = ""] = /Proposed as (\S+)\./.exec(stdout)!;
  await machine.run(["context", "proposals", "accept", proposal, "--yes"]);
  const after = await readFile(order(), "utf8");
  expect(after).toContain("owner: finance");
  expect(after).toContain("where: customer.city = 'Zürich'");
});

test("an export can be imported again, and lists what the format cannot hold", async () => {
  const out = machine.folder.join("project", "shop.ossie.yaml");
  const { code, stderr } = await machine.run(["metrics", "export", "--to", "ossie", "--out", out]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("metric orders: owner Ossie has no place for it.")]);
  const again = await machine.run(["metrics", "import", out, "--dry-run"]);
  expect(again.stdout).toContain("of the ossie project fit shop.");
  const flow = await machine.run(["metrics", "export", "--to", "metricflow"]);
  expect(flow.stdout).toContain("model: ref('orders')");
});

test("a metric that the database cannot plan is left out", async () => {
  const database = new DatabaseSync(machine.folder.join("project", "shop.sqlite"));
  database.exec("ALTER TABLE orders DROP COLUMN note");
  database.close();
  const metric = `  - { name: noted, type: simple, type_params: { measure: order_count }, filter: "{{ Dimension('order__note') }} is not null" }\n`;
  await writeFile(models(), MODELS + metric);
  const { stdout } = await machine.run(["metrics", "import", "dbt", "--dry-run"]);
  expect(stdout).toMatch(/metric noted: .*no such column/);
});

test("a path that is no project, or a table that is not understood, says what to do", async () => {
  const none = await machine.run(["metrics", "import", "context/wiki"]);
  expect([none.code, none.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining("is not a project of dbt, Ossie or KTX"),
  ]);
  const table = await machine.run(["metrics", "import", "dbt", "--table", "orders"]);
  expect([table.code, table.stderr]).toEqual([2, expect.stringContaining("--table prod.orders=main.orders")]);
});
