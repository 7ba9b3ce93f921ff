import type { PartOf } from "@tandem/protocol";
import { expect, test } from "vitest";
import { countLines, fromHunks, patchLines } from "./patch-lines.ts";

const call = (input: Record<string, unknown>): PartOf<"tool"> => ({
  type: "tool",
  id: "1",
  at: null,
  kind: "builtin",
  name: "Edit",
  input,
  permission: null,
  state: { type: "pending" },
});

test("hunks have the numbers of the file after the change, and of what is gone before it", () => {
  const lines = fromHunks([
    { old_start: 3, old_lines: 2, new_start: 3, new_lines: 3, lines: [" a", "-b", "+c", "+d"] },
    { old_start: 20, old_lines: 1, new_start: 21, new_lines: 1, lines: [" z"] },
  ]);
  expect(lines.map(({ sign, number, text }) => `${sign}${number ?? ""}${text}`)).toEqual([
    " 3a",
    "-4b",
    "+4c",
    "+5d",
    "…",
    " 21z",
  ]);
  expect([countLines(lines, "+"), countLines(lines, "-")]).toEqual([2, 1]);
});

test("before a call has run, its input says what it would change", () => {
  expect(patchLines(call({ file_path: "a", old_string: "x\n", new_string: "y\nz\n" })).map(({ sign }) => sign)).toEqual(
    ["-", "+", "+"],
  );
  expect(patchLines(call({ file_path: "a", content: "one\ntwo\n" })).map(({ number }) => number)).toEqual([1, 2]);
});
