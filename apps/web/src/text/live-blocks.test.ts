import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { lexer } from "marked";
import { expect, test } from "vitest";
import { LiveBlocks } from "./live-blocks.ts";

const TEXT = `# Title

A paragraph with **bold** words.

- one
- two

  still two
- three

| a | b |
|---|---|
| 1 | 2 |

\`\`\`ts
const x = 1;

const y = 2;
\`\`\`

> A quote
> of two lines

1. first
2. second

The end.`;

test("streaming letter by letter gives the same blocks as parsing at once", () => {
  const live = new LiveBlocks();
  for (let length = 1; length <= TEXT.length; length += 1) live.read(TEXT.slice(0, length));
  expect(live.read(TEXT).map(({ type, raw }) => [type, raw])).toEqual(
    lexer(TEXT, { gfm: true }).map(({ type, raw }) => [type, raw]),
  );
});

test("finished blocks stay the same objects", () => {
  const live = new LiveBlocks();
  const before = live.read("One.\n\nTwo.\n\nThree.\n\nFour");
  const after = live.read("One.\n\nTwo.\n\nThree.\n\nFour and more");
  expect(after[0]).toBe(before[0]);
  expect(after.at(-1)?.raw).toBe("Four and more");
});

test("a different text is parsed from its start", () => {
  const live = new LiveBlocks();
  live.read("One.\n\nTwo.\n\nThree.");
  expect(live.read("Other.").map(({ raw }) => raw)).toEqual(["Other."]);
});

test("a long growing text is kept in memory once, not once per block", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const paragraph = `${"word ".repeat(40)}\n\n`;
  const live = new LiveBlocks();
  collect();
  const before = process.memoryUsage().heapUsed;
  let text = "";
  for (let count = 0; count < 1_000; count += 1) live.read((text += paragraph));
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(40e6);
  expect(live.read(text)).toHaveLength(2_000);
});
