import { SESSION_METADATA, type SessionEventBody, type SessionUpdateParams } from "@tandem/protocol";
import type { SessionChange, SessionRow } from "@tandem/storage";
import { checkNewBudget } from "../budgets/check-budget.ts";
import { restorePasswords } from "../mcp/server-passwords.ts";
import { mergeMetadata } from "../host/merge-metadata.ts";
import type { AgentCatalogue } from "./agents.ts";
import { checkSkillTools } from "../skills/agent-skills.ts";
import { withoutMode } from "@tandem/policy";
import { checkMetadata } from "./session-draft.ts";

/** Describes a client's update of a session for its row and its log. */
export function describeUpdate(
  row: SessionRow,
  params: SessionUpdateParams,
  by: string | undefined,
  agents: Pick<AgentCatalogue, "resolveTools">,
): { change: SessionChange; events: SessionEventBody[] } {
  const change: SessionChange = {};
  if (params.title !== undefined) change.title = params.title;
  if (params.metadata !== undefined) {
    change.metadata = mergeMetadata(row.metadata, params.metadata);
    checkMetadata(change.metadata);
  }
  if (params.budget !== undefined) {
    if (params.budget !== null) checkNewBudget(row, params.budget);
    change.budget = params.budget;
  }
  if (params.agent) {
    const servers = params.agent.mcp_servers
      ? restorePasswords(params.agent.mcp_servers, row.agent.mcp_servers)
      : row.agent.mcp_servers;
    const tools = agents.resolveTools(params.agent.tools ?? row.agent.tools, servers);
    checkSkillTools(row.agent.skills, tools);
    change.agent = { ...row.agent, tools, mcp_servers: servers };
    // Permissions granted to the former agent must not pass to another.
    const isNamed = Boolean(params.metadata?.[SESSION_METADATA.permissionMode]);
    if (!isNamed) change.metadata = withoutMode(change.metadata ?? row.metadata);
  }
  return { change, events: [{ type: "session.updated", ...change, ...(by !== undefined && { tandem: { by } }) }] };
}
