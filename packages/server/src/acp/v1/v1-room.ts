import type {
  AgentContext,
  ClientCapabilities,
  McpServer,
  PromptRequest,
  PromptResponse,
} from "@agentclientprotocol/sdk/unstable";
import { RequestError } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import { AcpDesk } from "../acp-desk.ts";
import { clientServers } from "../client-mcp-server.ts";
import type { AcpParts } from "../create-acp-agent.ts";
import { messageContent } from "../prompt-content.ts";
import type { Prompt, TurnOutcome } from "../prompt.ts";
import type { SessionSettings } from "../session-settings.ts";
import { V1Outlet } from "./v1-outlet.ts";
import { configOptions, modeState } from "./v1-settings.ts";

// Everything of version 1 that is not needed to answer `initialize`.

/** Where requests of version 1 are put to the desk. */
export class V1Room {
  readonly desk: AcpDesk;

  constructor(parts: AcpParts, engine: Engine, client: AgentContext, capabilities: ClientCapabilities) {
    this.desk = new AcpDesk(parts, engine, new V1Outlet(client, capabilities));
  }

  prompt({ sessionId, prompt }: PromptRequest): Prompt {
    return this.desk.prompt(sessionId, messageContent(prompt));
  }
}

/** The folder and the servers that a request names. */
export function wanted(params: { cwd: string; additionalDirectories?: string[]; mcpServers?: McpServer[] }) {
  if (params.additionalDirectories?.length) {
    throw new RequestError("invalid_request", "additionalDirectories: a session works in one folder.", {
      fix: "Leave them out: they are not among the capabilities that Tandem has named.",
    });
  }
  return { folder: params.cwd, servers: clientServers(params.mcpServers ?? []) };
}

export function promptResponse({ stop, usage }: TurnOutcome): PromptResponse {
  if (!usage) return { stopReason: stop };
  const { input, output, cacheRead, cacheWrite } = usage;
  return {
    stopReason: stop,
    usage: {
      totalTokens: input + output + cacheRead + cacheWrite,
      inputTokens: input,
      outputTokens: output,
      cachedReadTokens: cacheRead,
      cachedWriteTokens: cacheWrite,
    },
  };
}

export const settingsView = (settings: SessionSettings) => ({
  modes: modeState(settings),
  configOptions: configOptions(settings),
});
