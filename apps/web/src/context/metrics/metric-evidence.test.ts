import type { Change } from "@tandem/protocol";
import { expect, test } from "vitest";
import { evidenceOf } from "./metric-evidence.ts";

const hunk = (new_lines: string[], support: number[][], state: Change["hunks"][number]["state"] = "accepted") =>
  ({
    id: "1",
    old_start: 1,
    old_lines: [],
    new_start: 1,
    new_lines,
    aspect: "wiki",
    fingerprint: "",
    support,
    removal: [],
    state,
  }) satisfies Change["hunks"][number];
const said = (name: string): Change["evidence"][number] => ({ type: "person", name, at: "2026-01-01T00:00:00Z" });

test("a metric has the evidence of its own accepted lines", () => {
  const lines = [
    "metrics:",
    "  orders:",
    "    measure: count",
    "  revenue:",
    "    measure: amount",
    "    unit: EUR",
    "  x: {}",
  ];
  const support = [[], [0], [0], [1], [1, 2], [], [3]];
  const evidence = ["a", "b", "c", "d"].map(said);
  expect(evidenceOf({ hunks: [hunk(lines, support)], evidence }, "revenue")).toEqual([said("b"), said("c")]);
  expect(evidenceOf({ hunks: [hunk(lines, support, "rejected")], evidence }, "revenue")).toEqual([]);
  expect(evidenceOf({ hunks: [hunk(lines, support)], evidence }, "gone")).toEqual([]);
});
