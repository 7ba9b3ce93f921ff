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

test("numbers added lines by the new file and removed lines by the old one", () => {
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

test("derives the patch from the input before the call has run", () => {
  expect(patchLines(call({ file_path: "a", old_string: "x\n", new_string: "y\nz\n" })).map(({ sign }) => sign)).toEqual(
    ["-", "+", "+"],
  );
  expect(patchLines(call({ file_path: "a", content: "one\ntwo\n" })).map(({ number }) => number)).toEqual([1, 2]);
});
