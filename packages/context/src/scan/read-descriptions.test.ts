import { expect, test } from "vitest";
import { portionsOf } from "./portion.ts";
import { readDescriptions, type TableDescription } from "./read-descriptions.ts";
import { tableKey } from "../privacy/scanned-table.ts";
import { makeScanned, makeTable } from "./testing/make-table.ts";

const orders = makeScanned(makeTable("orders", ["id", "total"]));
const archived = makeScanned(makeTable("orders", ["id", "total"], { schema: "archive" }));
const asked = [orders, archived].flatMap((scanned) =>
  portionsOf(scanned, { table: true, columns: new Set(["id", "total"]) }),
);

function read(...tables: { schema: string; table: string; description: string; columns: [string, string][] }[]) {
  const known = new Map<string, TableDescription>(
    [orders, archived].map(({ table }) => [tableKey(table), { table: "", columns: new Map() }]),
  );
  const entries = tables.map(({ columns, ...table }) => ({
    ...table,
    columns: columns.map(([name, description]) => ({ name, description })),
  }));
  const unknown = readDescriptions({ tables: entries }, asked, known);
  return { known, unknown, orders: known.get(tableKey(orders.table))!, archived: known.get(tableKey(archived.table))! };
}

test("distinguishes tables of one name in two schemas", () => {
  const result = read(
    { schema: "archive", table: "orders", description: "Old orders.", columns: [["id", "Old key."]] },
    { schema: "main", table: "orders", description: "Orders.", columns: [["id", "Key."]] },
  );
  expect(result.orders).toEqual({ table: "Orders.", columns: new Map([["id", "Key."]]) });
  expect(result.archived).toEqual({ table: "Old orders.", columns: new Map([["id", "Old key."]]) });
});

test("drops and counts unknown tables and columns", () => {
  const result = read(
    { schema: "main", table: "customers", description: "Made up.", columns: [["id", "x"]] },
    { schema: "main", table: "orders", description: "Orders.", columns: [["vat", "Made up."]] },
  );
  expect(result.unknown).toBe(2);
  expect(result.known.size).toBe(2);
  expect(result.orders.columns.size).toBe(0);
});

test("ignores empty texts, and replaces nothing known", () => {
  const result = read(
    {
      schema: "main",
      table: "orders",
      description: " ",
      columns: [
        ["id", ""],
        ["total", "Sum in euros."],
      ],
    },
    { schema: "main", table: "orders", description: "Orders.", columns: [["total", "Another."]] },
  );
  expect(result.orders).toEqual({ table: "Orders.", columns: new Map([["total", "Sum in euros."]]) });
});
