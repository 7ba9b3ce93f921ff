import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const backends = ["none", "anthropic", "vertex", "gateway", "claude-code"];

test.each([
  ["claudecode", "claude-code"],
  ["claude_code", "claude-code"],
  ["Anthropic", "anthropic"],
  ["antropic", "anthropic"],
  ["vertxe", "vertex"],
])("%s was meant to be %s", (word, meant) => expect(nearest(word, backends)).toBe(meant));

test.each(["openai", "x", "", "bedrock"])("%j has no near match", (word) => {
  expect(nearest(word, backends)).toBeUndefined();
});

test("a very long word is handled quickly", () => {
  expect(nearest("a".repeat(1_000_000), backends)).toBeUndefined();
});
