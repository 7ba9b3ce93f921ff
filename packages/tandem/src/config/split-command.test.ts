import { describe, expect, test } from "vitest";
import { splitCommand } from "./split-command.ts";

describe("splitting a command", () => {
  test.each<[string, string[]]>([
    ["op read op://vault/item/key?attribute=value", ["op", "read", "op://vault/item/key?attribute=value"]],
    [`pass show "my keys/anthropic"`, ["pass", "show", "my keys/anthropic"]],
    [`a 'b $c | d' e\\ f "g\\"h" ''`, ["a", "b $c | d", "e f", 'g"h', ""]],
    ["  spaced   out  ", ["spaced", "out"]],
  ])("%s", (line, words) => expect(splitCommand(line)).toEqual(words));

  test.each(["a | b", "a; b", "a && b", "a $B", 'a "$B"', "a `b`", "a > b", "a (b)"])("%s needs a shell", (line) => {
    expect(() => splitCommand(line)).toThrow("runs without a shell");
  });

  test("an unclosed quote is an error", () => expect(() => splitCommand("a 'b")).toThrow("unclosed '"));
});
