import { expect, test } from "vitest";
import { readOutline } from "./table-outline.ts";

const HEAD = "connection: shop\nschema: main\ntable: orders\ntype: table\nrows: 12\n";
const JOINS =
  "joins:\n  - { columns: [customer], to: main.customers, toColumns: [id], cardinality: many-to-one, origin: data, confidence: 0.9 }\n";
const COLUMNS = [
  "columns:",
  "  - name: id",
  "    type: INTEGER",
  "    profile:",
  "      samples:",
  "        - 1",
  "        - 2",
  "  # whose it is",
  "  - { name: customer, type: INTEGER }",
  "",
].join("\n");

test.each([
  ["before the joins", HEAD + COLUMNS + JOINS],
  ["at the end", HEAD + JOINS + COLUMNS],
  ["not indented", HEAD + COLUMNS.replaceAll(/^ {2}/gm, "") + JOINS],
  [
    "with a comment, on Windows",
    (HEAD + COLUMNS.replace("columns:", "columns: # all") + JOINS).replaceAll("\n", "\r\n"),
  ],
  ["in one line", `${HEAD}columns: [{ name: id, type: INTEGER }, { name: customer, type: INTEGER }]\n${JOINS}`],
  [
    "in a file of one line",
    JSON.stringify({
      ...orders(),
      columns: [
        { name: "id", type: "A" },
        { name: "b", type: "B" },
      ],
    }),
  ],
])("counts columns %s and reads the rest", (_, text) => {
  expect(readOutline(text)).toEqual({ ...orders(), columnCount: 2 });
});

test("reads an aliased column completely, and returns nothing for a broken file", () => {
  const shared = `${HEAD}columns:\n  - { name: &key customer, type: INTEGER }\n${JOINS.replace("[customer]", "[*key]")}`;
  expect(readOutline(shared)).toEqual({ ...orders(), columnCount: 1 });
  expect(readOutline("connection: [\n")).toBeUndefined();
  expect(readOutline(HEAD)).toBeUndefined();
});

function orders() {
  return {
    connection: "shop",
    schema: "main",
    table: "orders",
    type: "table",
    rows: 12,
    joins: [
      {
        columns: ["customer"],
        to: "main.customers",
        toColumns: ["id"],
        cardinality: "many-to-one",
        origin: "data",
        confidence: 0.9,
      },
    ],
  };
}
