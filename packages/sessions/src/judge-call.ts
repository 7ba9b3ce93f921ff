import { homedir } from "node:os";
import type { Decision, HostServer } from "@tandem/claude-code";
import { PERMISSION_MODES, SESSION_METADATA, type PermissionMode, type ThreadId, type Tool } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { isPlanFile } from "./approvals/plan-file.ts";
import { decideCall } from "./rules/decide-call.ts";
import type { JudgedCall, RuleBook } from "./rules/rule-book.ts";
import { decide, decideHosted, stricter } from "./tool-policy.ts";

/** Everything that has a say about a call, as it is now. */
export interface Judges {
  row: SessionRow;
  tools: readonly Tool[];
  /** The tools of the agent that a subagent's thread belongs to, if it is one of the roster. */
  toolsOf: (thread: ThreadId) => readonly Tool[] | undefined;
  /** That agent's id. */
  agentOf: (thread: ThreadId) => string | undefined;
  hostServers: readonly HostServer[];
  book: RuleBook | undefined;
  /** Of a session that names none. */
  mode: PermissionMode;
  /** Where Claude Code has its plans written. */
  plans: string;
}

/** By the rules, where one says something; else by the policies of the agents, and the session's mode. */
export function judgeCall(call: JudgedCall, judges: Judges): Decision {
  const { row, tools, toolsOf, agentOf, hostServers, book, plans } = judges;
  const own = call.thread === null ? undefined : toolsOf(call.thread);
  const hosted = decideHosted(hostServers, call);
  const root = hosted ?? decide(tools, call);
  const policy = own && !hosted ? stricter(root, decide(own, call)) : root;
  const verdict = book?.judge({ ...call, agentId: call.thread === null ? undefined : agentOf(call.thread) });
  const mode = PERMISSION_MODES.find((each) => each === row.metadata[SESSION_METADATA.permissionMode]) ?? judges.mode;
  if (mode === "plan" && verdict?.by !== "rule" && isPlanFile(call, plans)) {
    return { permission: "allow", verdict: { action: "allow", why: "A plan is written down there.", by: "mode" } };
  }
  return decideCall(call, { policy, verdict, mode, place: { folder: row.folder, home: homedir() } });
}
