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

test("everything of a new table, nothing of one that is described", () => {
  expect(wanted(undefined)).toEqual({ table: true, columns: ["id", "total"] });
  expect(wanted(file())).toEqual({ table: false, columns: [] });
});

test("a database's comment is not a description by a model, a person's text is enough", () => {
  expect(wanted(file({ descriptions: { db: "t_ord" } })).table).toBe(true);
  expect(wanted(file({ descriptions: { human: "All orders." } })).table).toBe(false);
});

test("a column of another type is wanted again, and of a table with other columns the table", () => {
  const [id, total] = file().columns;
  expect(wanted(file({ columns: [{ ...id!, type: "INTEGER" }, total!] }))).toEqual({ table: false, columns: ["id"] });
  expect(wanted(file({ columns: [id!] }))).toEqual({ table: true, columns: ["total"] });
  expect(wanted(file({ columns: [id!, total!, { name: "vat", type: "TEXT" }] })).table).toBe(true);
  expect(wanted(file({ columns: [id!, total!, { name: "vat", type: "TEXT", gone: true }] })).table).toBe(false);
});

test("a person's words are never wanted otherwise, whatever has changed", () => {
  const columns = [
    { name: "id", type: "INTEGER", descriptions: { human: "The key.", ai: "Key." } },
    { name: "total", type: "TEXT", descriptions: { ai: "Sum." } },
    { name: "vat", type: "TEXT" },
  ];
  expect(wanted(file({ descriptions: { human: "All orders." }, columns }))).toEqual({ table: false, columns: [] });
});
