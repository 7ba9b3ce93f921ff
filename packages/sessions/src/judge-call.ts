import type { Decision, HostServer } from "@tandem/claude-code";
import { SESSION_METADATA, type ThreadId, type Tool } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { isPlanFile } from "./approvals/plan-file.ts";
import type { JudgedCall, RuleBook } from "./rules/rule-book.ts";
import { decide, decideHosted, stricter } from "./tool-policy.ts";

/** Everything that has a say about a call, as it is now. */
export interface Judges {
  row: SessionRow;
  tools: readonly Tool[];
  /** The tools of the agent that a subagent's thread belongs to, if it is one of the roster. */
  toolsOf: (thread: ThreadId) => readonly Tool[] | undefined;
  hostServers: readonly HostServer[];
  book: RuleBook | undefined;
  /** Where Claude Code has its plans written. */
  plans: string;
}

/** By the rules, where one says something; else by the policies of the agents. */
export function judgeCall(call: JudgedCall, { row, tools, toolsOf, hostServers, book, plans }: Judges): Decision {
  const own = call.thread === null ? undefined : toolsOf(call.thread);
  const hosted = decideHosted(hostServers, call);
  const root = hosted ?? decide(tools, call);
  const policy = own && !hosted ? stricter(root, decide(own, call)) : root;
  const verdict = book?.judge(call);
  if (verdict) return { ...policy, permission: verdict.action, verdict };
  if (row.metadata[SESSION_METADATA.permissionMode] === "plan" && isPlanFile(call, plans)) {
    return { permission: "allow", verdict: { action: "allow", why: "A plan is written down there.", by: "mode" } };
  }
  return policy;
}
