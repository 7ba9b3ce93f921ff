import { expect, test } from "vitest";
import { metricFactsOf } from "./metric-facts.ts";
import type { Hunk } from "./proposal-api.ts";

const BEFORE = `entity: order
table: main.orders
grain: [id]
segments:
  real: status <> 'cancelled'
measures:
  amount: { sum: amount_cents, where: real }
metrics:
  revenue: { measure: amount, label: Revenue, owner: finance }
  orders:
    measure: count
    label: Orders
`;

const hunk = (old_start: number, old_count: number, new_start: number, new_count: number): Hunk => ({
  id: "1",
  old_start,
  old_lines: Array.from({ length: old_count }, () => ""),
  new_start,
  new_lines: Array.from({ length: new_count }, () => ""),
  aspect: "metric",
  fingerprint: "",
  support: [],
  removal: [],
  state: "open",
});

test("a changed measure shows its formula and that of the metrics that use it", () => {
  const after = BEFORE.replace("sum: amount_cents,", "sum: amount_cents / 100, unit: EUR,");
  expect(metricFactsOf({ before: BEFORE, after }, hunk(7, 1, 7, 1))).toEqual([
    {
      kind: "Measure",
      subject: "amount",
      facts: [
        { field: "formula", before: "sum(amount_cents) where real", after: "sum(amount_cents / 100) where real" },
        { field: "unit", before: undefined, after: "EUR" },
      ],
      figures: [],
    },
    {
      kind: "Metric",
      subject: "revenue",
      facts: [
        { field: "formula", before: "sum(amount_cents) where real", after: "sum(amount_cents / 100) where real" },
      ],
      figures: [],
    },
  ]);
});

test("a hunk shows only what it changes, in one line or in several", () => {
  const after = BEFORE.replace("owner: finance", "owner: sales").replace("label: Orders", "label: Purchases");
  expect(metricFactsOf({ before: BEFORE, after }, hunk(9, 1, 9, 1))).toEqual([
    { kind: "Metric", subject: "revenue", facts: [{ field: "owner", before: "finance", after: "sales" }], figures: [] },
  ]);
  expect(metricFactsOf({ before: BEFORE, after }, hunk(12, 1, 12, 1))).toEqual([
    {
      kind: "Metric",
      subject: "orders",
      facts: [{ field: "label", before: "Orders", after: "Purchases" }],
      figures: [],
    },
  ]);
});

test("a new file lists the entity and its definitions; segments have their condition", () => {
  const groups = metricFactsOf({ before: null, after: BEFORE }, hunk(1, 0, 1, 12))!;
  expect(groups.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
    "Entity order",
    "Segment real",
    "Measure amount",
    "Metric revenue",
    "Metric orders",
  ]);
  expect(groups[1]!.facts).toEqual([{ field: "is", before: undefined, after: "status <> 'cancelled'" }]);
});

test("a hunk does not show the formula that another hunk changes", () => {
  const after = BEFORE.replace("sum: amount_cents,", "sum: amount_cents / 100,").replace(
    "label: Orders",
    "label: Sold",
  );
  const [before, changed] = [BEFORE, after].map((text) => text.replace("measure: count", "measure: amount"));
  expect(metricFactsOf({ before: before!, after: changed! }, hunk(12, 1, 12, 1))).toEqual([
    { kind: "Metric", subject: "orders", facts: [{ field: "label", before: "Orders", after: "Sold" }], figures: [] },
  ]);
});

test("a file that is no YAML, and a change of comments alone, are shown as source", () => {
  expect(metricFactsOf({ before: BEFORE, after: "entity: [" }, hunk(1, 12, 1, 1))).toBeUndefined();
  expect(metricFactsOf({ before: BEFORE, after: `${BEFORE}# checked\n` }, hunk(13, 0, 13, 1))).toBeUndefined();
});
