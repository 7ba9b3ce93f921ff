import type { AgentConnectionLifecycle } from "@agentclientprotocol/sdk";
import type { Engine } from "@tandem/sessions";
import { hasScope } from "../../http/access/authorize.ts";
import type { Logger } from "../../http/create-logger.ts";
import type { ClientServers } from "../client-servers.ts";
import type { AcpAgentOptions } from "../acp-agent-options.ts";
import type { ConnectAgent } from "../../tenants/connect-agent.ts";

/** Creates agents for clients of a server. An agent has the rights of its token; its sessions are the server's. */
export function connectAgents(parts: {
  engine: Engine;
  version: string;
  clientServers: ClientServers;
  /** Chooses the agent and the environment of a new session in a folder. */
  begin: (folder: string, agent: string | undefined) => ReturnType<AcpAgentOptions["begin"]>;
  checkLogin?: AcpAgentOptions["checkLogin"];
  logger: Logger;
}): ConnectAgent {
  const { engine, version, clientServers, begin, checkLogin, logger } = parts;
  return (token, { agent }) => {
    const options: AcpAgentOptions = {
      engine,
      version,
      clientServers,
      who: token.name,
      begin: (folder) => begin(folder, agent),
      mayKeepRules: hasScope(token, "admin"),
      mayBringPrograms: hasScope(token, "admin"),
      mayBypass: hasScope(token, "admin"),
      ...(checkLogin && { checkLogin }),
      onFailure: (error, what) => logger.warn({ err: error, token: token.id }, `ACP: ${what} failed`),
    };
    return {
      // Loaded on the first connection, so that a server without editors does not load the protocol.
      connect(stream) {
        const connecting = import("../create-acp-agent.ts").then(({ createAcpAgent }) =>
          createAcpAgent(options).connect(stream),
        );
        return { closed: connecting.then(async (lifecycle) => (lifecycle as AgentConnectionLifecycle).closed) };
      },
    };
  };
}
