import { expect, test } from "vitest";
import { diffHunks } from "./diff-lines.ts";

const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i + 1}`);

test("distant edits are hunks of their own, and near ones share one", () => {
  const before = numbers(30);
  const after = before.toSpliced(24, 1).with(4, "five").with(9, "ten").toSpliced(0, 0, "zero");
  expect(diffHunks(before, after, 3)).toEqual([
    {
      old_start: 1,
      old_lines: 13,
      new_start: 1,
      new_lines: 14,
      lines: [
        "+zero",
        ...before.slice(0, 4).map((line) => ` ${line}`),
        "-line 5",
        "+five",
        ...before.slice(5, 9).map((line) => ` ${line}`),
        "-line 10",
        "+ten",
        ...before.slice(10, 13).map((line) => ` ${line}`),
      ],
    },
    {
      old_start: 22,
      old_lines: 7,
      new_start: 23,
      new_lines: 6,
      lines: [
        ...before.slice(21, 24).map((line) => ` ${line}`),
        "-line 25",
        ...before.slice(25, 28).map((line) => ` ${line}`),
      ],
    },
  ]);
});

test("a side without lines counts from 0, as git counts it", () => {
  expect(diffHunks([], ["a"], 3)).toEqual([{ old_start: 0, old_lines: 0, new_start: 1, new_lines: 1, lines: ["+a"] }]);
  expect(diffHunks(["a"], [], 3)).toEqual([{ old_start: 1, old_lines: 1, new_start: 0, new_lines: 0, lines: ["-a"] }]);
  expect(diffHunks(["a"], ["a"], 3)).toEqual([]);
});
