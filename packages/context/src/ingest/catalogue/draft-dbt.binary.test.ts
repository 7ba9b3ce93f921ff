import { expect, test } from "vitest";
import { MemoryRun } from "../../scan/testing/memory-run.ts";
import { ingest } from "../ingest.ts";
import { openTestIngest } from "../testing/open-test-ingest.ts";
import { defaultSection } from "@tandem/protocol";

const SCHEMA = `
models:
  - name: orders
    description: One row per order.
    columns:
      - name: customer_id
        description: Who | has ordered.
        tests: [{ relationships: { to: ref('customers'), field: id } }]
      - name: total
        description: With tax.
      - name: vanished
        tests: [{ relationships: { to: ref('customers'), field: id } }]
`;

const table = (name: string, columns: string, more = "") =>
  `connection: shop\nschema: public\ntable: ${name}\ntype: table\n${more}columns:\n${columns}`;

async function openProject() {
  const context = await openTestIngest({
    "models/schema.yml": SCHEMA,
    "models/orders.sql": "select * from raw.orders where not is_test",
    "dbt_project.yml": "name: shop",
  });
  const change = (name: string, content: string) => ({
    path: `catalogue/shop/public.${name}.yaml`,
    expected: null,
    content,
  });
  await context.folder.commit(
    [
      change(
        "orders",
        table(
          "orders",
          "  - name: id\n    type: int\n  - name: customer_id\n    type: int\n  - name: total\n    type: int\n",
        ),
      ),
      change("customers", table("customers", "  - name: id\n    type: int\n")),
    ],
    { subject: "Scan", trailers: { "Tandem-Proposal": "prop_1" } },
  );
  const { folder, proposals, space } = context;
  const run = (sources = [context.source({ type: "dbt", connection: "shop" })]) =>
    ingest(new MemoryRun(), {
      context: { folder, proposals },
      store: space,
      config: defaultSection("ingest"),
      sources,
    });
  return { context, run, file: () => folder.read("catalogue/shop/public.orders.yaml") };
}

test("writes a dbt project's descriptions as people's text with their source, without a model", async () => {
  const { context, run, file } = await openProject();
  await using _ = context;
  const report = await run();
  expect(report.tables).toBe(1);
  const proposal = (await context.proposals.get(report.proposals[0]!.id))!;
  const [change] = proposal.changes;
  const lines = change!.hunks.flatMap(({ newLines, aspect, state }) =>
    newLines.map((line) => [line.trim(), aspect, state]),
  );
  expect(lines).toContainEqual(["human: One row per order.", "description", "accepted"]);
  expect(lines).toContainEqual(["human: Who | has ordered.", "description", "accepted"]);
  // The join is unverified here, so a person decides.
  expect(lines).toContainEqual(["- columns: [customer_id]", "join", "open"]);
  expect(lines.filter(([line]) => line?.includes("vanished"))).toEqual([]);
  expect(change!.evidence).toContainEqual(expect.objectContaining({ type: "source", path: "models/orders.sql" }));
  expect(await file()).toContain("human: With tax.");
  expect((await run()).proposals).toEqual([]);
});

test("keeps a person's own text in the file; the project's text follows the project", async () => {
  const { context, run, file } = await openProject();
  await using _ = context;
  await run();
  const path = `${context.folder.path}/catalogue/shop/public.orders.yaml`;
  const { writeFile } = await import("node:fs/promises");
  await writeFile(path, (await file())!.replace("human: With tax.", "human: Net of tax, says Ada."));
  await context.write(
    "models/schema.yml",
    SCHEMA.replace("With tax.", "Gross.").replace("One row per order.", "Orders."),
  );
  const report = await run();
  const proposal = (await context.proposals.get(report.proposals[0]!.id))!;
  const lines = proposal.changes.flatMap(({ hunks }) => hunks.flatMap(({ newLines }) => newLines)).join("\n");
  expect(lines).toContain("human: Orders.");
  expect(lines).not.toContain("Gross.");
});
