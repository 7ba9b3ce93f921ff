import { sep } from "node:path";
import type { PermissionMode, Verdict } from "@tandem/protocol";
import type { Decision } from "../decision.ts";
import { fullName } from "./apply-rules.ts";
import { absolute, realPath, type SessionPaths } from "./path-pattern.ts";
import type { JudgedCall } from "./session-rules.ts";
import { expandLine } from "../shell/expand-line.ts";
import { autoEvaluation } from "../tool-policy.ts";
import { KNOWN_TOOLS, kindOf, writtenPath } from "./tool-kinds.ts";

/**
 * Decides a call, in this order: tools that the agent lacks are denied; deny rules; in plan mode, every change is denied; the
 * other rules; the agent's policy, which the mode may override where it asks.
 */
export function decideCall(call: JudgedCall, ground: Ground): Decision & { verdict: Verdict } {
  const decision = decideByRules(call, ground);
  return evaluated(ground.mode === "dontAsk" ? denyInsteadOfAsking(call, decision) : decision);
}

/** For the mode `dontAsk`. */
export function denyInsteadOfAsking<D extends Decision>(
  call: Pick<JudgedCall, "name" | "mcpServer">,
  decision: D,
): D & Decision {
  if (decision.permission !== "ask") return decision;
  const why = `${fullName(call)} is denied (don't ask): it would need approval.`;
  return { ...decision, permission: "deny", verdict: { ...decision.verdict, action: "deny", by: "mode", why } };
}

/** Under the policy `auto`, the evaluation repeats the decision. */
const evaluated = <D extends Decision>(decision: D): D =>
  decision.evaluation?.type === "auto" ? { ...decision, evaluation: autoEvaluation(decision.permission) } : decision;

interface Ground {
  policy: Decision;
  verdict: Verdict | undefined;
  mode: PermissionMode;
  paths: Pick<SessionPaths, "folder" | "home">;
}

function decideByRules(call: JudgedCall, { policy, verdict, mode, paths }: Ground): Decision & { verdict: Verdict } {
  const tool = fullName(call);
  const say = (action: Verdict["action"], by: Verdict["by"], why: string): Decision & { verdict: Verdict } => ({
    ...policy,
    permission: action,
    verdict: { action, by, why },
  });
  if (policy.permission === "deny") return say("deny", "policy", `${tool} is denied (agent policy).`);
  if (verdict?.action === "deny") return { ...policy, permission: "deny", verdict };
  if (mode === "plan") {
    const change = changes(call);
    if (change === "yes") return say("deny", "mode", `${tool} is denied (plan mode): it would change something.`);
    const asks = verdict?.action ?? policy.permission;
    if (change === "maybe" && asks === "allow" && policy.permission !== "allow") {
      return say("ask", "mode", `${tool} needs approval (plan mode): it may change something.`);
    }
  }
  if (verdict) return { ...policy, permission: verdict.action, verdict };
  if (policy.permission === "allow") return say("allow", "policy", `${tool} is allowed (agent policy).`);
  if (policy.evaluation?.type === "auto" && call.mcpServer === undefined && kindOf(call.name) === "read") {
    return say("allow", "policy", `${tool} is allowed (agent policy "auto"): it only reads.`);
  }
  if (mode === "bypassPermissions") return say("allow", "mode", `${tool} is allowed (bypass permissions).`);
  if (mode === "acceptEdits" && isEditInside(call, paths)) {
    return say("allow", "mode", `${tool} is allowed (accept edits): the file is in the session's folder.`);
  }
  return say("ask", "policy", `${tool} needs approval (agent policy).`);
}

/** Whether a call has an effect outside the conversation, as far as that is known. */
function changes(call: JudgedCall): "yes" | "maybe" | "no" {
  const tool = fullName(call);
  if (tool.startsWith("mcp__")) return "maybe";
  switch (kindOf(tool)) {
    case "edit":
      return "yes";
    case "shell":
      return isLooking(call.input["command"]) ? "no" : "yes";
    case "read":
    case "web":
      return "no";
    case undefined:
      // An unknown tool is the client's own.
      return INTERNAL.has(tool) ? "no" : KNOWN_TOOLS.includes(tool) ? "yes" : "maybe";
  }
}

/** Tools of no kind that only affect the conversation. Calls of subagents and skills are judged themselves. */
const INTERNAL: ReadonlySet<string> = new Set(
  `Agent Task Skill SlashCommand ToolSearch AskUserQuestion EnterPlanMode ExitPlanMode TodoWrite
    TaskCreate TaskUpdate TaskList TaskGet TaskOutput BashOutput CronList SendMessage KillShell TaskStop`.split(/\s+/),
);

/** Whether every command of a shell line only reads. */
function isLooking(command: unknown): boolean {
  if (typeof command !== "string") return false;
  const { units, doubts } = expandLine(command);
  if (doubts.length > 0) return false;
  return units.every(
    ({ reach, hatches, transparent, command: { redirects } }) =>
      (reach === "reads" || transparent) &&
      hatches.length === 0 &&
      redirects.every(
        ({ operator, target }) =>
          (operator.startsWith("<") && operator !== "<>") ||
          target.text === "/dev/null" ||
          /^\d$/.test(target.text ?? ""),
      ),
  );
}

function isEditInside(call: JudgedCall, { folder, home }: Pick<SessionPaths, "folder" | "home">): boolean {
  const path = writtenPath(call);
  if (path === undefined) return false;
  const real = realPath(absolute(path, folder, home));
  return real !== undefined && real.startsWith(folder + sep);
}
