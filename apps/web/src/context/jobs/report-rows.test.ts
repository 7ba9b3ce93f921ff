import { expect, test } from "vitest";
import { reportRows } from "./report-rows.ts";

test("lists numbers by name and leaves out zeros", () => {
  const rows = reportRows({
    connection: "shop",
    tables: { seen: 10, added: 2, gone: 0 },
    joins: null,
    sources: [{ name: "docs", added: 6, changed: 0 }],
    units: { done: 2, failed: [] },
    gates: { checked: 0 },
    proposals: [{ id: "prop_1" }],
  });
  expect(rows).toEqual([
    ["connection", "shop"],
    ["tables", "10 seen, 2 added"],
    ["sources", "docs: 6 added"],
    ["units", "2 done"],
  ]);
});
