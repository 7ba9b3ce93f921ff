import type { AgentConnector } from "@agentclientprotocol/sdk";
import type { TokenRow } from "@tandem/storage";

/** The agent that a client names in the address: `/acp?agent=reviewer`. */
export interface WantedAgent {
  /** Name or id, for new sessions. */
  agent?: string;
}

/** An agent for one connection of a token. */
export type ConnectAgent = (token: TokenRow, wanted: WantedAgent) => AgentConnector;
