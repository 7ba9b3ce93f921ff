import { expect, test } from "vitest";
import { unwrapLines } from "./unwrap-lines.ts";

test.each([
  ["one\ntwo\n\nthree\n", "one two\n\nthree"],
  ["- a\n- b", "- a\n- b"],
  ["a:\n| x |\n| y |", "a:\n| x |\n| y |"],
  ["say\n  indented", "say\n  indented"],
])("%j", (text, expected) => expect(unwrapLines(text)).toBe(expected));
