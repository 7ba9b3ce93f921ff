import { expect, test } from "vitest";
import { surroundingLines, lineRows } from "./line-rows.ts";

const hunk = {
  old_start: 3,
  old_lines: ["c"],
  new_start: 3,
  new_lines: ["C", "D", "E"],
  support: [[0, 1], [0, 1], [2]],
  removal: [1],
};

test("shows evidence once for consecutive lines that share it", () => {
  const rows = lineRows(hunk).map(({ type, number, text, marks }) => [type, number, text, marks]);
  expect(rows).toEqual([
    ["removed", 3, "c", [1]],
    ["added", 3, "C", [0, 1]],
    ["added", 4, "D", []],
    ["added", 5, "E", [2]],
  ]);
});

test("returns the lines around a hunk", () => {
  const { above, below } = surroundingLines(hunk, "a\nb\nc\nd\ne\n", 1);
  expect(above.map(({ number, text }) => [number, text])).toEqual([[2, "b"]]);
  expect(below.map(({ number, text }) => [number, text])).toEqual([[4, "d"]]);
});

test("a new file has no lines around its hunk", () => {
  expect(surroundingLines({ old_start: 1, old_lines: [] }, null, 3)).toEqual({ above: [], below: [] });
});
