import { expect, test } from "vitest";
import type { TableFile } from "../catalogue/table-file.ts";
import { tableMarkdown } from "./table-markdown.ts";

const file: TableFile = {
  connection: "shop",
  schema: "main",
  table: "orders",
  type: "table",
  descriptions: { ai: "One order." },
  rows: 1_200,
  rowsAre: "rounded",
  profiled: "sample",
  primaryKey: ["id"],
  verifiedKeys: [{ columns: ["code"], of: "all" }],
  checks: ["total >= 0"],
  columns: [
    { name: "id", type: "int", profile: { nulls: 0, distinct: 1_000, distinctIs: "estimated", min: 1, max: 1_234 } },
    {
      name: "state",
      type: "text",
      nullable: true,
      descriptions: { ai: "Where it is.", aiFor: "status text" },
      profile: { nulls: 0.2, distinct: 2, distinctIs: "exact", samples: ["open", "a|b"], samplesAre: "all" },
    },
    { name: "mood", type: "mood", labels: ["sad", "fine"], profile: { nulls: 1, distinct: 0, distinctIs: "exact" } },
    { name: "mail", type: "text", profile: { stored: "shapes", personal: "e-mail address", shapes: ["aaa@aaa.aa"] } },
  ],
  joins: [
    {
      columns: ["id"],
      to: "main.parcels",
      toColumns: ["id"],
      cardinality: "one-to-one",
      origin: "data",
      confidence: 0.9,
      evidence: { compared: 40, matched: 39, of: "sample" },
    },
  ],
};

test("a table is described with its figures, values, keys, constraints and what is not certain", () => {
  const pages = [{ key: "orders", title: "Orders", summary: "Amounts include VAT." }];
  const metrics = [{ name: "revenue", description: "Without cancelled orders." }];
  expect(tableMarkdown({ file, columns: file.columns, joinedFrom: [], pages, metrics })).toMatchInlineSnapshot(`
    "# main.orders

    One order.

    Table of the connection \`shop\`, ≈1,200 rows, primary key (id), unique in the data (code). Figures of the columns are from a sample of its rows.

    | column | type | meaning | values |
    | --- | --- | --- | --- |
    | id | int not null |  | ≈1,000 distinct; 1 to 1234 |
    | state | text | (stale, written for status text) Where it is. | 20 % null; all values: "open", "a\\|b" |
    | mood | mood not null |  | one of "sad", "fine"; always null; 0 distinct |
    | mail | text not null |  | personal data (e-mail address), stored as shapes: "aaa@aaa.aa" |

    The database enforces:
    - total >= 0

    Joins:
    - (id) → main.parcels (id), one-to-one, confidence 0.9, 39 of 40 values found in a sample

    Pages about it (read with page_read):
    - page:orders Orders: Amounts include VAT.

    Metrics computed from it (use metric_query for these figures):
    - revenue: Without cancelled orders."
  `);
});
