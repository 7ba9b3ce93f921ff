import type { Relationship } from "@tandem/relationships";
import { expect, test } from "vitest";
import type { JoinEntry, TableFile } from "../catalogue/table-file.ts";
import { joinsByTable, joinsOfTable } from "./joins-of-table.ts";
import { makeScanned, makeTable } from "./testing/make-table.ts";

const table = makeTable("visit", ["who"]);
const scanned = makeScanned(table);

const found = (status: Relationship["status"], share: number): Relationship => ({
  from: { table, columns: ["who"] },
  to: { table: { schema: "main", name: "guest" }, columns: ["no"] },
  origin: "data",
  status,
  confidence: 0.5,
  cardinality: "many-to-one",
  why: [],
  evidence: { checked: 100, found: share * 100, of: "all", nulls: 0, unique: true },
});
const entry: JoinEntry = {
  columns: ["who"],
  to: "main.guest",
  toColumns: ["no"],
  cardinality: "many-to-one",
  confidence: 0.9,
  origin: "model",
};

const file: TableFile = { connection: "inn", schema: "main", table: "visit", type: "table", columns: [] };

const statuses = (joins: JoinEntry[], relationships: Relationship[], isModelComplete: boolean) =>
  joinsOfTable(
    scanned,
    { ...file, joins },
    {
      relationships,
      compositeKeys: new Map(),
      isComplete: true,
      isModelComplete,
      looked: new Set(["main.guest"]),
      byTable: joinsByTable(relationships),
    },
  ).map(({ origin, status }) => `${origin} ${status}`);

test.each([
  ["what a model named stays while it is not asked, though the data alone does not suffice", "review", 1, false],
  ["or would not have come to it at all", "rejected", 1, false],
] as const)("%s", (_, status, share, asked) => {
  expect(statuses([entry], [found(status, share)], asked)).toEqual(["model accepted"]);
});

test("a suggested join is dropped when its values no longer match, or the model was asked again", () => {
  expect(statuses([entry], [found("rejected", 0.1)], false)).toEqual(["data rejected"]);
  expect(statuses([entry], [], true)).toEqual([]);
});

test("a join found in the data replaces a suggested one", () => {
  expect(statuses([entry], [found("accepted", 1)], false)).toEqual(["data accepted"]);
});
