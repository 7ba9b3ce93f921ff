import { expect, test } from "vitest";
import { readColumnValues, type TableValues } from "../catalogue/column-values.ts";
import { findValues } from "./find-values.ts";

const FILE = `connection: shop
schema: main
table: "Order: all"
type: table
descriptions:
  ai: "samples: [not these]"
columns:
  - name: state
    type: mood
    labels: [open, won, lost]
    descriptions:
      ai: "samples: [nor these]"
    profile:
      nulls: 0
      samples: [won, "a, b", 'it''s', -1, 2.5, true, "tab\\tb", "", Grains/Cereals]
      samplesAre: all
  - name: "yes"
    type: text
joins:
  - columns: [a]
    why: "x"
`;

test("values are read from the lines of a file as from its YAML", () => {
  const quick = readColumnValues(FILE)!;
  expect(quick).toEqual({
    schema: "main",
    table: "Order: all",
    columns: [
      {
        column: "state",
        values: ["won", "a, b", "it's", "-1", "2.5", "true", "tab\tb", "", "Grains/Cereals"],
        labels: ["open", "won", "lost"],
        isComplete: true,
      },
      { column: "yes", values: [], labels: [], isComplete: false },
    ],
  });
  // Line ends and a layout of a person are read by the parser.
  const slow = FILE.replace(/joins:[\s\S]*/, "");
  expect(readColumnValues(slow.replaceAll("\n", "\r\n"))).toEqual(quick);
  expect(readColumnValues(slow.replace("samples: [won", "samples: [ # all\n        won"))).toEqual(quick);
});

const tables: TableValues[] = [
  {
    schema: "main",
    table: "orders",
    columns: [
      { column: "status", values: ["delivered", "won", "in_transit"], labels: ["refused"], isComplete: true },
      { column: "city", values: ["Zürich", "São Paulo", "New York", "USA"], labels: [], isComplete: true },
      { column: "note", values: ["won the lottery", "+"], labels: [], isComplete: false },
    ],
  },
];
const catalogue = { connections: async () => ["shop"], values: async () => tables };
const find = async (value: string) =>
  (await findValues(catalogue, [value])).found.map(({ column, stored, match }) => `${column} ${stored} ${match}`);

test.each([
  ["won", ["status won exact", "note won the lottery part"]],
  ["WON", ["status won spelling", "note won the lottery part"]],
  ["deliverd", ["status delivered similar"]],
  ["Delievred", ["status delivered similar"]],
  ["in transit", ["status in_transit spelling"]],
  ["zurich", ["city Zürich spelling"]],
  ["Sao Paolo", ["city São Paulo similar"]],
  ["york", ["city New York part"]],
  ["refused", ["status refused exact"]],
  ["+", ["note + exact"]],
  ["UAS", []],
  ["cancelled", []],
])("a lookup of %s finds %j", async (value, expected) => expect(await find(value)).toEqual(expected));

test("a lookup says what it did not find, and how many columns are not known completely", async () => {
  expect(await findValues(catalogue, ["cancelled", "won"])).toMatchObject({
    missing: ["cancelled"],
    incompleteColumns: 1,
    leftOut: 0,
  });
});
