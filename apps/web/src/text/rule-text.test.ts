import { expect, test } from "vitest";
import { ruleText } from "./rule-text.ts";

test("a rule without a pattern is shown by its tool alone", () => {
  expect(ruleText({ tool: "Bash", pattern: "git *" })).toBe("Bash(git *)");
  expect(ruleText({ tool: "Bash" })).toBe("Bash");
});
