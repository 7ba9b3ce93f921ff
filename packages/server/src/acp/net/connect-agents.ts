import type { AgentConnectionLifecycle } from "@agentclientprotocol/sdk";
import type { Engine } from "@tandem/sessions";
import { hasScope } from "../../http/authorize.ts";
import type { Logger } from "../../http/create-logger.ts";
import type { ClientServers } from "../client-servers.ts";
import type { AcpAgentOptions } from "../acp-agent-options.ts";
import type { ConnectAgent } from "./acp-door.ts";

/** Agents for clients of a server. What they may do is what their token may; their sessions are the server's, as all others. */
export function connectAgents(parts: {
  engine: Engine;
  version: string;
  clientServers: ClientServers;
  /** With which agent and where a new session works in a folder. */
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
      ...(checkLogin && { checkLogin }),
      onFailure: (error, what) => logger.warn({ err: error, token: token.id }, `ACP: ${what} failed`),
    };
    return {
      // Loaded with the first editor: a server that has none need not know the protocol.
      connect(stream) {
        const connecting = import("../create-acp-agent.ts").then(({ createAcpAgent }) =>
          createAcpAgent(options).connect(stream),
        );
        return { closed: connecting.then(async (lifecycle) => (lifecycle as AgentConnectionLifecycle).closed) };
      },
    };
  };
}
