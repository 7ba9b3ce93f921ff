import { expect, test } from "vitest";
import { blocksOf, uncitedBlocks } from "./page-blocks.ts";

const PAGE = `# Refunds

Thirty days. [^a#x] Not on
Sundays.

## Code

\`\`\`sql
select 1

from t -- [^no]
\`\`\`
- one [^b#y]
- two

---
Bare words.`;

test("blocks have their lines and citations", () => {
  expect(blocksOf(PAGE).map(({ from, to, states, citations }) => [from, to, states, citations])).toEqual([
    [1, 1, false, []],
    [3, 4, true, ["a#x"]],
    [6, 6, false, []],
    [8, 12, false, []],
    [13, 14, true, ["b#y"]],
    [16, 17, true, []],
  ]);
});

test("new statements need a citation; existing ones do not", () => {
  expect(uncitedBlocks(PAGE, undefined).map(({ text }) => text)).toEqual(["---\nBare words."]);
  expect(uncitedBlocks(PAGE, "---\nBare words.\n")).toEqual([]);
});
