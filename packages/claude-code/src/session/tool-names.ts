import { TOOL_SERVER } from "../isolation.ts";
import type { ConversationSetup } from "./conversation.ts";
import type { ToolNames } from "./translate/calls.ts";

/** Offers the tools of a self-hosted environment. */
const WORKER_SERVER = "environment";

/** Picks names for our servers that no server of the agent has. */
export function toolNames(setup: ConversationSetup): ToolNames {
  const names = serverNames(setup);
  const unused = (name: string): string => (names.includes(name) ? unused(`${name}-`) : name);
  return {
    customServer: unused(TOOL_SERVER),
    ...(setup.workerTools && { workerServer: unused(WORKER_SERVER) }),
    mcpServers: names,
  };
}

/** Names of all MCP servers of a conversation, remote ones and the host's own. */
export const serverNames = ({ mcpServers, connectedServers = [], hostServers = [] }: ConversationSetup): string[] =>
  [...mcpServers, ...connectedServers, ...hostServers].map(({ name }) => name);
