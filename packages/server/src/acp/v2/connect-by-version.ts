import { agentProtocolRouter, type AgentConnector } from "@agentclientprotocol/sdk/experimental/v2";
import type { AcpParts } from "../create-acp-agent.ts";
import { createV1Agent } from "../v1/create-v1-agent.ts";
import { createV2Agent } from "./create-v2-agent.ts";

/** Speaks the newest version that the client asks for and that there is. */
export const connectByVersion = (parts: AcpParts): AgentConnector =>
  agentProtocolRouter().withV1(createV1Agent(parts)).withV2(createV2Agent(parts));
