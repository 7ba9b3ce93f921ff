import { expect, test } from "vitest";
import type { FileChange } from "../changes-api.ts";
import { pairFiles } from "./pair-files.ts";

const file = (path: string, patch?: string): FileChange => ({
  path,
  status: "modified",
  binary: false,
  added: 1,
  removed: 0,
  ...(patch !== undefined && { patch }),
});

test("pairs files by path, differing files first", () => {
  const pairs = pairFiles([file("a", "1"), file("b", "1")], [file("a", "1"), file("b", "2"), file("c", "3")]);
  expect(pairs.map(({ path, a, b, isSame }) => [path, a !== undefined, b !== undefined, isSame])).toEqual([
    ["b", true, true, false],
    ["c", false, true, false],
    ["a", true, true, true],
  ]);
});

test("files without a patch do not count as equal", () => {
  expect(pairFiles([file("x")], [file("x")])[0]?.isSame).toBe(false);
});
