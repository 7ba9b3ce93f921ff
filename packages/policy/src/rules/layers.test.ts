import { tmpdir } from "node:os";
import type { PermissionMode, RuleAction, Tool, Verdict } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { applyRules } from "./apply-rules.ts";
import { decideCall } from "./decide-call.ts";
import type { SessionPaths } from "./path-pattern.ts";
import { readCall } from "./read-call.ts";
import { decide as decidePolicy } from "../tool-policy.ts";
import { compiled } from "../testing/made-up-rules.ts";

const paths: SessionPaths = { folder: tmpdir(), home: "/home/nobody", foldsCase: false };

const say = (call: string, ...rules: string[]): Verdict | undefined =>
  applyRules(compiled(paths, ...rules), readCall(call), paths).verdict;

describe("which rule decides", () => {
  test.each<[string, RuleAction, string[]]>([
    ["a deny of any layer", "deny", ["user deny Bash(ls)", "session allow Bash(ls)"]],
    ["a deny of a session", "deny", ["session deny Bash(ls)", "user allow Bash(ls)"]],
    ["a deny among the same", "deny", ["allow Bash(ls)", "deny Bash(ls)", "ask Bash(ls)"]],
    ["the session before the agent", "allow", ["agent ask Bash(ls)", "session allow Bash(ls)"]],
    ["the agent before the project", "ask", ["project allow Bash(ls)", "agent ask Bash(ls)"]],
    ["the project before the user", "allow", ["user ask Bash(ls)", "project allow Bash(ls)"]],
    ["an ask among the same", "ask", ["allow Bash(ls)", "ask Bash(ls)"]],
    ["not the longer pattern, nor the later rule", "ask", ["ask Bash(ls)", "allow Bash(ls -l *)"]],
    ["who says something, not who is asked first", "allow", ["session allow Bash(cat)", "user allow Bash(ls *)"]],
    ["a doubt about a deny before any allow", "ask", ["user deny Edit(secrets/**)", "session allow Bash(ls *)"]],
  ])("%s", (_, expected, rules) => {
    const call = rules[0]!.includes("Edit") ? "Bash(ls $X | xargs ls)" : "Bash(ls -l)";
    // Adjust the exact rules to the call.
    const verdict = say(call, ...rules.map((rule) => rule.replace("allow Bash(ls)", "allow Bash(ls *)")));
    expect(verdict?.action).toBe(expected);
    expect(verdict?.why).toMatch(/\.$/);
  });

  test("each part of a line is judged separately", () => {
    expect(say("Bash(ls && cat x)", "user allow Bash(ls)", "session allow Bash(cat *)")?.action).toBe("allow");
    expect(say("Bash(ls && cat x)", "user allow Bash(ls)")).toBeUndefined();
    expect(say("Bash(ls && cat x)", "session allow Bash(ls)", "user ask Bash(cat)")?.action).toBe("ask");
    expect(say("Bash(ls && cat x)", "session allow Bash(ls)", "user deny Bash(cat)")?.action).toBe("deny");
  });

  test("the verdict names the rule", () => {
    expect(say("Bash(ls)", "project deny Bash(ls)")).toEqual({
      action: "deny",
      by: "rule",
      why: "`ls` is denied by the project rule Bash(ls): the command starts with these words.",
      rule: {
        id: "project deny Bash(ls)",
        scope: "project",
        tool: "Bash",
        pattern: "ls",
        action: "deny",
        source: "a test",
      },
    });
  });
});

describe("rules, policy and mode", () => {
  const decide = (call: string, policy: "allow" | "ask" | "deny", mode: PermissionMode, ...rules: string[]) =>
    decideCall(readCall(call), { policy: { permission: policy }, verdict: say(call, ...rules), mode, paths });

  test.each<[string, "allow" | "ask" | "deny", PermissionMode, string[], RuleAction]>([
    // No rule matches
    ["Bash(ls)", "ask", "default", [], "ask"],
    ["Bash(ls)", "allow", "default", [], "allow"],
    ["Bash(ls)", "deny", "bypassPermissions", ["allow Bash"], "deny"],
    ["Bash(ls)", "ask", "bypassPermissions", [], "allow"],
    ["Edit(a.ts)", "ask", "acceptEdits", [], "allow"],
    ["Write(sub/a.ts)", "ask", "acceptEdits", [], "allow"],
    ["Edit(/etc/hosts)", "ask", "acceptEdits", [], "ask"],
    ["Edit(../x)", "ask", "acceptEdits", [], "ask"],
    ["Edit(.git/config)", "ask", "acceptEdits", [], "ask"],
    ["Edit(.git/config)", "allow", "bypassPermissions", [], "ask"],
    ["Edit(sub/.GIT/config)", "ask", "acceptEdits", [], "ask"],
    ["Write(tandem.yaml)", "allow", "bypassPermissions", [], "ask"],
    ["Bash(touch x)", "ask", "acceptEdits", [], "ask"],
    // Rules apply in every mode
    ["Bash(rm x)", "allow", "bypassPermissions", ["deny Bash(rm)"], "deny"],
    ["Bash(rm x)", "allow", "bypassPermissions", ["ask Bash(rm)"], "ask"],
    ["Bash(rm x)", "ask", "default", ["allow Bash(rm *)"], "allow"],
    ["Edit(a.ts)", "ask", "acceptEdits", ["ask edit"], "ask"],
    // Plan mode denies changes
    ["Edit(a.ts)", "allow", "plan", [], "deny"],
    ["Edit(a.ts)", "allow", "plan", ["allow edit"], "deny"],
    ["Bash(rm x)", "allow", "plan", ["allow Bash"], "deny"],
    ["PowerShell", "allow", "plan", ["allow PowerShell"], "deny"],
    ["CronCreate", "allow", "plan", [], "deny"],
    ["TodoWrite", "allow", "plan", [], "allow"],
    ["Bash(npm test)", "allow", "plan", [], "deny"],
    ["Bash(ls > x)", "allow", "plan", [], "deny"],
    ["Bash(git log | head)", "allow", "plan", [], "allow"],
    ["Bash(git grep --open=rm x)", "allow", "plan", [], "deny"],
    ["Bash(sort --comp=./x.sh y)", "allow", "plan", [], "deny"],
    ["Bash(git reflog expire --all)", "allow", "plan", [], "deny"],
    ["Bash(git reflog)", "allow", "plan", [], "allow"],
    ["Bash(ls)", "ask", "plan", [], "ask"],
    ["Read(a.ts)", "allow", "plan", [], "allow"],
    ["mcp__x__y", "ask", "plan", ["allow mcp__x"], "ask"],
    ["TodoWrite", "allow", "plan", [], "allow"],
    // Don't ask: denied instead
    ["Bash(touch x)", "ask", "dontAsk", [], "deny"],
    ["Bash(touch x)", "allow", "dontAsk", ["ask Bash"], "deny"],
    ["Edit(.git/config)", "allow", "dontAsk", [], "deny"],
    ["Bash(touch x)", "ask", "dontAsk", ["allow Bash(touch *)"], "allow"],
    ["Read(a.ts)", "allow", "dontAsk", [], "allow"],
  ])("%s, policy %s, mode %s, rules %j → %s", (call, policy, mode, rules, expected) => {
    const { permission, verdict } = decide(call, policy, mode, ...rules);
    expect(permission).toBe(expected);
    expect(verdict).toMatchObject({ action: expected, why: expect.stringMatching(/\.$/) });
  });

  test.each([
    ["Read(a.ts)", [], { type: "allow" }],
    ["Bash(touch x)", [], { type: "ask", reason_code: "indeterminate" }],
    ["WebFetch(https://example.com)", [], { type: "ask", reason_code: "indeterminate" }],
    ["Bash(touch x)", ["allow Bash(touch *)"], { type: "allow" }],
    ["Read(a.ts)", ["deny Read"], { type: "deny", reason_code: "high_risk" }],
  ])("the policy auto decides %s with the rules %j, and its evaluation says so", (call, rules, evaluated) => {
    const policy = decidePolicy([autoToolset], readCall(call));
    const decision = decideCall(readCall(call), { policy, verdict: say(call, ...rules), mode: "default", paths });
    expect(decision).toMatchObject({
      permission: evaluated.type,
      evaluation: { type: "auto", evaluated_permission: evaluated },
    });
  });
});

const autoToolset: Tool = {
  type: "agent_toolset_20260401",
  default_config: { enabled: true, permission_policy: { type: "auto" } },
  configs: [],
};
