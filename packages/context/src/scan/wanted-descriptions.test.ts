import { expect, test } from "vitest";
import type { TableFile } from "../catalogue/table-file.ts";
import { makeTable } from "./testing/make-table.ts";
import { wantedDescriptions } from "./wanted-descriptions.ts";

const table = makeTable("orders", ["id", "total"]);
const file = (change: Partial<TableFile> = {}): TableFile => ({
  connection: "shop",
  schema: "main",
  table: "orders",
  type: "table",
  descriptions: { ai: "Orders." },
  columns: [
    { name: "id", type: "TEXT", descriptions: { ai: "Key." } },
    { name: "total", type: "TEXT", descriptions: { ai: "Sum." } },
  ],
  ...change,
});
const wanted = (before: TableFile | undefined) => {
  const { table: own, columns } = wantedDescriptions(table, before);
  return { table: own, columns: [...columns] };
};

test("wants everything of a new table, and nothing of a described one", () => {
  expect(wanted(undefined)).toEqual({ table: true, columns: ["id", "total"] });
  expect(wanted(file())).toEqual({ table: false, columns: [] });
});

test("a database comment is not enough, but a person's text is", () => {
  expect(wanted(file({ descriptions: { db: "t_ord" } })).table).toBe(true);
  expect(wanted(file({ descriptions: { human: "All orders." } })).table).toBe(false);
});

test("wants a column again after a type change, and the table after a column change", () => {
  const [id, total] = file().columns;
  expect(wanted(file({ columns: [{ ...id!, type: "INTEGER" }, total!] }))).toEqual({ table: false, columns: ["id"] });
  expect(wanted(file({ columns: [id!] }))).toEqual({ table: true, columns: ["total"] });
  expect(wanted(file({ columns: [id!, total!, { name: "vat", type: "TEXT" }] })).table).toBe(true);
  expect(wanted(file({ columns: [id!, total!, { name: "vat", type: "TEXT", gone: true }] })).table).toBe(false);
});

test("never wants a replacement of a person's text", () => {
  const columns = [
    { name: "id", type: "INTEGER", descriptions: { human: "The key.", ai: "Key." } },
    { name: "total", type: "TEXT", descriptions: { ai: "Sum." } },
    { name: "vat", type: "TEXT" },
  ];
  expect(wanted(file({ descriptions: { human: "All orders." }, columns }))).toEqual({ table: false, columns: [] });
});
