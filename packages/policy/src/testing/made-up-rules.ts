import type { KeptRule, RuleAction, RuleScope } from "@tandem/protocol";
import { compileRule, type CompiledRule } from "../rules/compile-rule.ts";
import type { SessionPaths } from "../rules/path-pattern.ts";

/** Parses `deny Bash(rm)` or `session allow Bash(git push *)`. The default scope is the user's. */
export function kept(text: string): KeptRule {
  const found = /^(?:(user|project|agent|session) )?(allow|ask|deny) ([^(]+)(?:\(([^]*)\))?$/.exec(text);
  if (!found) throw new Error(`${text} is not a rule`);
  const [, scope = "user", action, tool, pattern] = found;
  return {
    id: text,
    scope: scope as RuleScope,
    of: null,
    source: "a test",
    created_at: null,
    tool: tool!,
    action: action as RuleAction,
    ...(pattern !== undefined && { pattern }),
  };
}

export const compiled = (paths: SessionPaths, ...rules: string[]): CompiledRule[] =>
  rules.map((text) => compileRule(kept(text), paths));
