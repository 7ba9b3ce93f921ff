import type { JudgedCall } from "@tandem/policy";
import type { SessionAgent } from "@tandem/protocol";
import { rosterOf } from "../log/agent-roster.ts";
import { workflowsOf, type OpenRuns } from "../log/open-runs.ts";
import { MAX_OPEN_RUNS, TOO_MANY_RUNS } from "./run-limits.ts";

/** Only the text in the call itself is judged, logged and shown. */
const SCRIPT_ONLY = "Pass the plan in `script`. Plans from files and saved plans are not run here.";
const PRIMARY_ONLY = "Only the session's own agent starts workflow runs.";

/** Why a workflow run may not start. */
export function refusedRun({ name, mcpServer, input, thread }: JudgedCall, { runs }: { runs: OpenRuns }) {
  if (name !== "Workflow" || mcpServer !== undefined) return undefined;
  if (thread !== null) return PRIMARY_ONLY;
  if (input["scriptPath"] !== undefined || input["name"] !== undefined) return SCRIPT_ONLY;
  return runs.size >= MAX_OPEN_RUNS ? TOO_MANY_RUNS.message : undefined;
}

/** Why an agent may not be called as a subagent: it is listed for workflow runs alone. */
export function refusedAgent({ name, mcpServer, input }: JudgedCall, agent: SessionAgent): string | undefined {
  if ((name !== "Agent" && name !== "Task") || mcpServer !== undefined) return undefined;
  const called = input["subagent_type"];
  const isOfWorkflows = workflowsOf(agent)?.predefined_agents.some((each) => each.name === called) ?? false;
  const isSubagent = rosterOf(agent).some((each) => each.name === called);
  return isOfWorkflows && !isSubagent ? `${String(called)} can only be used in workflow runs.` : undefined;
}
