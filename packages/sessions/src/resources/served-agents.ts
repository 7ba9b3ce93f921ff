import type { Agent } from "@tandem/protocol";
import { hidePasswords } from "../mcp/server-passwords.ts";
import type { Agents } from "./agents.ts";

/** The agents as clients see them. */
export function servedAgents(agents: Agents, archiveDeployments: (agentId: string) => Promise<void>): Agents {
  const served = (agent: Agent): Agent => ({ ...agent, mcp_servers: hidePasswords(agent.mcp_servers) });
  return {
    create: async (params, id) => served(await agents.create(params, id)),
    get: async (id, version) => served(await agents.get(id, version)),
    update: async (id, params) => served(await agents.update(id, params)),
    archive: async (id) => {
      const archived = await agents.archive(id);
      await archiveDeployments(id);
      return served(archived);
    },
    list: async (query) => {
      const page = await agents.list(query);
      return { ...page, data: page.data.map(served) };
    },
    versions: async (id, query) => {
      const page = await agents.versions(id, query);
      return { ...page, data: page.data.map(served) };
    },
  };
}
