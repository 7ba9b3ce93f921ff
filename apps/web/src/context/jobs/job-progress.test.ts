import { expect, test } from "vitest";
import { jobProgress } from "./job-progress.ts";

test("tracks stages, units, skipped items and the end", () => {
  const progress = jobProgress([
    { type: "started", kind: "scan", resumed: false },
    { type: "stage_started", stage: "read", total: 3 },
    { type: "stage_progress", stage: "read", done: 2, total: 3, item: "orders" },
    { type: "waiting", reason: "quota", until: null },
    { type: "skipped", stage: "read", item: "gone", code: "x", message: "no such table" },
    { type: "stage_finished", stage: "read", counts: { tables: 2 } },
    { type: "unit_started", unit: "u1", items: ["a.md"] },
    { type: "unit_step", unit: "u1", step: 2, budget: 20, tools: ["page_read"] },
    { type: "unit_finished", unit: "u1", outcome: "done", message: null },
    { type: "spent", requests: 4, cached: 1, usd: 0.1 },
    { type: "proposed", proposal: "prop_1", accepted: 3, open: 1 },
    { type: "ended", state: "partly", message: null },
  ]);
  expect(progress).toMatchObject({
    stages: [{ name: "read", done: 2, total: 3, item: null, counts: { tables: 2 } }],
    units: [{ name: "u1", step: 2, outcome: "done" }],
    skipped: [{ item: "gone" }],
    waiting: null,
    spent: { requests: 4 },
    proposals: [{ proposal: "prop_1" }],
    end: { state: "partly" },
  });
});

test("starts over when a job is resumed", () => {
  const progress = jobProgress([
    { type: "started", kind: "scan", resumed: false },
    { type: "stage_started", stage: "read", total: 3 },
    { type: "started", kind: "scan", resumed: true },
  ]);
  expect(progress).toMatchObject({ stages: [], isResumed: true });
});
