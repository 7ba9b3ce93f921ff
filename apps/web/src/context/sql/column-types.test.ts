import { expect, test } from "vitest";
import { columnTypes } from "./column-types.ts";
import { tableQuery } from "./table-query.ts";

test("types come from the values, also where exact numbers arrive as text", () => {
  const columns = ["id", "price", "big", "day", "at", "paid", "name", "none", "mixed"];
  const rows = [
    [1, "10.50", "9007199254740993", "2026-01-02", "2026-01-02T10:00:00Z", true, "a", null, 1],
    [2, null, "1", "2026-01-03", "2026-01-03 11:30", false, "2026-01-02", null, "x"],
  ];
  expect(columnTypes({ columns, rows })).toEqual([
    "integer",
    "decimal",
    "integer",
    "date",
    "time",
    "boolean",
    "text",
    "empty",
    "text",
  ]);
});

test("a query of a table quotes unusual names only", () => {
  expect(tableQuery("sqlite", { schema: "main", table: "orders" })).toBe("select * from main.orders");
  expect(tableQuery("postgres", { schema: "Sales", table: 'a"b' })).toBe('select * from "Sales"."a""b"');
  expect(tableQuery("mysql", { schema: "shop", table: "order lines" })).toBe("select * from shop.`order lines`");
});
