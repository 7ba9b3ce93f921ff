import { lexer } from "marked";
import { expect, test } from "vitest";
import { QuickTokenizer } from "./quick-tokenizer.ts";

const LINES = [
  "Words of an answer",
  "Über *alles* | mit `code`",
  "",
  "   ",
  "---",
  "  ===",
  "| a | b |",
  "|---|:-:|",
  ":-- | --",
  "- an item",
  "1. first",
  "> said before",
  "# Heading",
  "```ts",
  "<details>",
  "text <b>bold</b>",
  "[name]: https://example.com",
  "    indented",
  "***",
];

const plain = (text: string): string => JSON.stringify(lexer(text, { gfm: true }));
const quick = (text: string): string => JSON.stringify(lexer(text, { gfm: true, tokenizer: new QuickTokenizer() }));

test("gives the same tokens as the original tokenizer for every three lines", () => {
  const different: string[] = [];
  for (const first of LINES)
    for (const second of LINES)
      for (const third of LINES)
        for (const end of ["", "\n"]) {
          const text = `${first}\n${second}\n${third}${end}`;
          if (quick(text) !== plain(text)) different.push(text);
        }
  expect(different).toEqual([]);
});

test.each([
  "Words",
  "Words\n",
  "Words  \nmore\n\n\nand more",
  "a\n \nb",
  "> a\nb\n> c\n> ---",
  "- a\n  b\n\n  c\n  ---\n- d\n\n  | x |\n  |---|\n  | y |",
])("%j is read the same", (text) => expect(quick(text)).toEqual(plain(text)));
