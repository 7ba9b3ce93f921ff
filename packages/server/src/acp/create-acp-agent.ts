import type { AgentConnectionLifecycle, AgentConnector } from "@agentclientprotocol/sdk/unstable";
import type { PermissionMode, SessionCreateParams } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { ClientServers } from "./client-servers.ts";
import { createV1Agent } from "./v1/create-v1-agent.ts";

/** What an ACP agent is made of. */
export interface AcpParts {
  /** May still be on its way: `initialize` is answered without it. */
  engine: Engine | Promise<Engine>;
  /** Who asks for things on this connection, for the log. */
  who: string;
  /** Tandem's own. */
  version: string;
  /** With which agent and where a new session works in a folder, which exists. */
  begin(folder: string): Promise<Pick<SessionCreateParams, "agent" | "environment_id">>;
  /** Where MCP servers that clients name are kept; the engine's `sessionServers` reads them there. */
  clientServers: ClientServers;
  /** Whether version 2 of the protocol is offered beside version 1. */
  v2: boolean;
  /** The mode of sessions that name none. */
  usualMode?: PermissionMode;
  /** Whether who answers here may have rules kept for more than the session. */
  mayKeepRules?: boolean;
  /** Whether MCP servers that this client names may be programs of this machine; without it, they may. */
  mayBringPrograms?: boolean;
  /** Whether a session is this client's to see; without it, all are. */
  owns?(session: string): Promise<boolean>;
  /** This client has begun a session. */
  opened?(session: string): Promise<void>;
  /** Rejects where another process has the session, so that what is sent would be done there, unseen. */
  mayWrite?(session: string): Promise<void>;
  /** Rejects with what to do where there is no login or key to work with. */
  checkLogin?(): Promise<void>;
  /** For what went wrong and concerns nobody's request. */
  onFailure?(error: unknown, what: string): void;
}

/** An agent for editors and other clients of the Agent Client Protocol, for one connection. */
export function createAcpAgent(parts: AcpParts): AgentConnector {
  if (!parts.v2) return createV1Agent(parts);
  return {
    // A draft is loaded by those who want it.
    connect(stream) {
      const connecting = import("./v2/connect-by-version.ts").then(({ connectByVersion }) =>
        connectByVersion(parts).connect(stream),
      );
      return { closed: connecting.then(async (lifecycle) => (lifecycle as AgentConnectionLifecycle).closed) };
    },
  };
}
