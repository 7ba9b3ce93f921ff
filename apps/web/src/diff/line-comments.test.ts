import { expect, test } from "vitest";
import { promptOf } from "./line-comments.ts";

const comment = (path: string, line: number, words: string, text = "const a = 1;") => ({
  path,
  line,
  words,
  text,
  key: `I${line}`,
  side: "new" as const,
});

test("joins comments into one message, by file and line", () => {
  const prompt = promptOf([comment("b.ts", 2, "Why?"), comment("a.ts", 9, " Later. "), comment("a.ts", 3, "Now.")]);
  expect(prompt).toBe(
    [
      "3 comments on your changes.",
      "`a.ts`, line 3:\n```\nconst a = 1;\n```\nNow.",
      "`a.ts`, line 9:\n```\nconst a = 1;\n```\nLater.",
      "`b.ts`, line 2:\n```\nconst a = 1;\n```\nWhy?",
    ].join("\n\n"),
  );
});

test("skips empty comments and keeps backticks of a line", () => {
  expect(promptOf([comment("a", 1, "  ")])).toBe("");
  expect(promptOf([comment("a", 1, "Hm", "```js")])).toContain("````\n```js\n````");
  expect(promptOf([{ ...comment("a", 1, "Hm", ""), side: "old" }])).toBe(
    "A comment on your changes.\n\n`a`, line 1 (before the change):\nHm",
  );
});
