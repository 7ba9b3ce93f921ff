import { expect, test } from "vitest";
import type { Hunk } from "./proposal-api.ts";
import { factsOf, isTableFile } from "./fact-groups.ts";

const BEFORE = `connection: shop
table: orders
columns:
  - name: id
    type: INTEGER
    descriptions:
      ai: Its number.
  - name: total
    type: INTEGER
`;
const AFTER = `connection: shop
table: orders
descriptions:
  human: >-
    What people bought,
    with tests.
columns:
  - name: id
    type: INTEGER
    descriptions:
      ai: "The order's number: unique."
  - name: total
    type: INTEGER
    profile:
      nulls: 0
      samples: [1, 2]
joins:
  - columns: [customer_id]
    to: main.customers
    toColumns: [id]
    confidence: 0.97
`;

const hunk = (old: [start: number, count: number], made: [start: number, count: number]): Hunk => ({
  id: "1",
  old_start: old[0],
  old_lines: Array.from({ length: old[1] }, () => ""),
  new_start: made[0],
  new_lines: Array.from({ length: made[1] }, () => ""),
  aspect: "description",
  fingerprint: "",
  support: [],
  removal: [],
  state: "open",
});
const read = (...places: Parameters<typeof hunk>) => factsOf({ before: BEFORE, after: AFTER }, hunk(...places));

test("a changed description is shown under its column, old beside new", () => {
  expect(read([7, 1], [11, 1])).toEqual([
    {
      subject: "id",
      facts: [{ field: "description (by a model)", before: "Its number.", after: "The order's number: unique." }],
      figures: [],
    },
  ]);
});

test("long texts are joined, and figures of the data are kept apart", () => {
  expect(read([3, 0], [3, 4])).toEqual([
    {
      subject: "",
      facts: [{ field: "description (by a person)", before: undefined, after: "What people bought, with tests." }],
      figures: [],
    },
  ]);
  expect(read([10, 0], [14, 3])).toMatchObject([
    {
      subject: "total",
      facts: [],
      figures: [
        { field: "nulls", after: "0" },
        { field: "samples", after: "[1, 2]" },
      ],
    },
  ]);
});

test("a join is named by both of its ends", () => {
  expect(read([10, 0], [17, 5])).toMatchObject([
    {
      subject: "customer_id → main.customers (id)",
      facts: [{ field: "confidence", after: "0.97" }],
    },
  ]);
  expect(isTableFile({ path: "catalogue/shop/main.orders.yaml" })).toBe(true);
  expect(isTableFile({ path: "wiki/orders.md" })).toBe(false);
});
