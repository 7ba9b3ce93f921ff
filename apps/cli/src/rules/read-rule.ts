import { rule as ruleSchema, TandemError, type Rule, type RuleAction } from "@tandem/protocol";

/** `Bash(git push *)`, or a tool alone. */
export function readRule(action: RuleAction, text: string, reason?: string): Rule {
  const found = /^([^()\s]+)(?:\(([^]+)\))?$/.exec(text.trim());
  if (!found) {
    throw new TandemError("usage", `${JSON.stringify(text)} is not a rule.`, {
      fix: 'Write a tool with a pattern in parentheses: "Bash(git push *)".',
    });
  }
  const [, tool, pattern] = found;
  return ruleSchema.parse({ tool, action, ...(pattern && { pattern }), ...(reason && { reason }) });
}
