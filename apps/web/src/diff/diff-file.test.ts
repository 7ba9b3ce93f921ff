import { expect, test } from "vitest";
import { cutHunks, firstHunks, hunksOfPatch, lineOf, escapeHiddenInHunks } from "./diff-file.ts";

const patch = {
  path: "a.ts",
  kind: "update" as const,
  hunks: [
    {
      old_start: 3,
      old_lines: 2,
      new_start: 3,
      new_lines: 3,
      lines: [" same", "-before", "+after", "+more", "\\ No newline at end of file"],
    },
  ],
};

test("numbers the lines of a patch on both sides", () => {
  const [hunk] = hunksOfPatch(patch);
  expect(hunk?.changes.map(lineOf)).toEqual([
    { side: "new", line: 3, text: "same" },
    { side: "old", line: 4, text: "before" },
    { side: "new", line: 4, text: "after" },
    { side: "new", line: 5, text: "more" },
  ]);
});

test("returns at least one hunk, and otherwise only what fits", () => {
  const [hunk] = hunksOfPatch(patch);
  expect(firstHunks([hunk!, hunk!, hunk!], 8)).toHaveLength(2);
  expect(firstHunks([hunk!, hunk!], 1)).toHaveLength(1);
  expect(firstHunks([], 1)).toEqual([]);
});

test("splits a long hunk into consecutive pieces", () => {
  const pieces = cutHunks(hunksOfPatch(patch), 2);
  expect(pieces.map(({ oldStart, newStart, oldLines, newLines }) => [oldStart, newStart, oldLines, newLines])).toEqual([
    [3, 3, 2, 1],
    [5, 4, 0, 2],
  ]);
  expect(pieces.flatMap(({ changes }) => changes)).toEqual(hunksOfPatch(patch)[0]!.changes);
});

test("escapes hidden characters in lines", () => {
  const hunks = [{ ...patch.hunks[0]!, lines: ["+if (admin\u202E) {", " same"] }];
  const [hunk] = escapeHiddenInHunks(hunksOfPatch({ ...patch, hunks }));
  expect(hunk?.changes.map(({ content }) => content)).toEqual(["if (admin⟨U+202E⟩) {", "same"]);
});
