import { homedir } from "node:os";
import type { AllowedCall, Decision, HostServer } from "@tandem/claude-code";
import { denyInsteadOfAsking, judgeCall, type JudgedCall, type SessionRules } from "@tandem/policy";
import { SESSION_METADATA, type ThreadId, type SessionAgent } from "@tandem/protocol";
import { asksPerson } from "../approvals/approval-note.ts";
import { CallRefused, THREAD_ENDED } from "../approvals/call-refused.ts";
import { findMountedPath } from "../mounts/find-mounted-path.ts";
import { isReadOnly } from "../mounts/read-only-mounts.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import type { ProcessSettings } from "./process-settings.ts";
import type { ProcessSetup } from "./process-setup.ts";
import { rosterOf } from "../log/agent-roster.ts";
import { workflowsOf, type OpenRuns } from "../log/open-runs.ts";
import { MAX_OPEN_RUNS, TOO_MANY_RUNS } from "../workflows/run-limits.ts";

interface Judged {
  writer: SessionWriter;
  settings: ProcessSettings;
  sessionRules: SessionRules;
  processSetup: ProcessSetup;
  hostServers: readonly HostServer[];
  /** Claude Code's folder for plans. */
  plans: string;
  /** Folders with the files of skills. */
  skillFolders: readonly string[];
}

/** Judges the calls of a session by its policy, its rules and its MCP servers. */
export function sessionJudge({
  writer,
  settings,
  sessionRules,
  processSetup,
  hostServers,
  plans,
  skillFolders,
}: Judged) {
  const judges = {
    tools: writer.row.agent.tools,
    toolsOf: (thread: ThreadId) => writer.toolsOf(thread),
    agentOf: (thread: ThreadId) => writer.agentOf(thread),
    hostServers,
    sessionRules,
    mode: settings.permissionMode ?? "default",
    plans,
    skillFolders,
    home: homedir(),
  };
  const isHooked = settings.hooks?.some(({ on }) => on === "beforeTool") ?? false;
  return (call: JudgedCall): Decision => {
    const session = writer.row;
    const reached = call.reaches && writer.threadOf(call.reaches);
    if (reached?.archivedAt) return { permission: "deny", verdict: denial(ARCHIVED) };
    if (call.thread && writer.threadOf(call.thread)?.archivedAt)
      return { permission: "deny", verdict: denial(THREAD_ENDED) };
    // A worker runs the call as soon as it reads it, before a hook could deny it.
    if (call.isRemote && isHooked) return { permission: "deny", verdict: denial(HOOKED) };
    const refused = refusedRun(call, writer) ?? refusedAgent(call, session.agent);
    if (refused !== undefined) return { permission: "deny", verdict: denial(refused) };
    const decision = processSetup.judge(call, judgeCall(call, { ...judges, session }));
    const mounted = call.isRemote ? undefined : findMountedPath(call, session);
    if (mounted !== undefined) return { ...decision, permission: "deny", verdict: denial(mounted) };
    const mode = session.metadata[SESSION_METADATA.permissionMode] ?? judges.mode;
    if (!call.isRemote && isReadOnly(call, session)) return { ...decision, permission: "deny" };
    const judged = mode === "dontAsk" ? denyInsteadOfAsking(call, decision) : decision;
    return session.metadata[SESSION_METADATA.policyHook] === undefined ? judged : askClient(call, judged);
  };
}

const HOOKED =
  "This server has a hook for tool calls (`hooks`, `on: beforeTool`), which cannot stop a call of a self-hosted environment in time.";

const ARCHIVED =
  "A person archived this subagent's thread: it takes no more messages. Start a new subagent if you need one.";

const denial = (why: string) => ({ action: "deny", by: "policy", why }) as const;

/** Under a policy hook, a client decides about calls that are allowed or need approval. Denied ones are not asked about. */
function askClient(call: JudgedCall, decision: Decision): Decision {
  if (decision.permission === "deny" || asksPerson(call)) return decision;
  const reason = decision.permission === "ask" && decision.verdict ? `${decision.verdict.why} ` : "";
  const why = `${reason}A client decides about every call of this session (policy hook).`;
  return { ...decision, permission: "ask", verdict: { action: "ask", by: "hook", why } };
}

/**
 * Judges a call that a person allowed some time ago. Rules may have changed since, and no person is asked again: a denial of
 * today wins. Returns the input that a hook changes it to, if any.
 */
export async function admitLateCall(
  call: Pick<AllowedCall, "eventId" | "toolUseId" | "name"> & Pick<JudgedCall, "mcpServer" | "input">,
  judge: (call: JudgedCall) => Decision,
  { beforeTool }: ProcessSetup["hooks"],
): Promise<Record<string, unknown> | undefined> {
  const judged = { ...call, thread: null };
  const { permission, verdict } = judge(judged);
  if (permission === "deny")
    throw new CallRefused(`This session does not allow the call any more. ${verdict?.why ?? ""}`.trim());
  const said = await beforeTool?.({ ...judged, signal: new AbortController().signal });
  if (!said) return undefined;
  if (!said.allow) throw new CallRefused(said.message);
  if (said.input && judge({ ...judged, input: said.input }).permission !== "allow") {
    throw new CallRefused("A hook changed the call into one that this session does not allow without asking.");
  }
  return said.input;
}

/** Only the text in the call itself is judged, logged and shown. */
const SCRIPT_ONLY = "Pass the plan in `script`. Plans from files and saved plans are not run here.";
const PRIMARY_ONLY = "Only the session's own agent starts workflow runs.";

/** Why a workflow run may not start. */
function refusedRun({ name, mcpServer, input, thread }: JudgedCall, { runs }: { runs: OpenRuns }) {
  if (name !== "Workflow" || mcpServer !== undefined) return undefined;
  if (thread !== null) return PRIMARY_ONLY;
  if (input["scriptPath"] !== undefined || input["name"] !== undefined) return SCRIPT_ONLY;
  return runs.size >= MAX_OPEN_RUNS ? TOO_MANY_RUNS.message : undefined;
}

/** Why an agent may not be called as a subagent: it is listed for workflow runs alone. */
function refusedAgent({ name, mcpServer, input }: JudgedCall, agent: SessionAgent): string | undefined {
  if ((name !== "Agent" && name !== "Task") || mcpServer !== undefined) return undefined;
  const called = input["subagent_type"];
  const isOfWorkflows = workflowsOf(agent)?.predefined_agents.some((each) => each.name === called) ?? false;
  const isSubagent = rosterOf(agent).some((each) => each.name === called);
  return isOfWorkflows && !isSubagent ? `${String(called)} can only be used in workflow runs.` : undefined;
}
