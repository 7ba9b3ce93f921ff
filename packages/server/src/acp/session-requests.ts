import type { AgentContext, ClientCapabilities, McpServer, PromptResponse } from "@agentclientprotocol/sdk/unstable";
import { RequestError } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import { AcpClient } from "./acp-client.ts";
import { AcpService, type SessionWorkspace } from "./acp-service.ts";
import { clientServers } from "./client-mcp-server.ts";
import { configOptions, modeState } from "./config-options.ts";
import type { AcpAgentOptions } from "./acp-agent-options.ts";
import type { TurnOutcome } from "./prompt.ts";
import type { SessionSettings } from "./session-settings.ts";

// Everything that `initialize` does not need, behind one import.

export const openService = (
  options: AcpAgentOptions,
  engine: Engine,
  client: AgentContext,
  capabilities: ClientCapabilities,
): AcpService => new AcpService(options, engine, new AcpClient(client, capabilities));

/** The folder and the MCP servers that a request names. */
export function workspaceOf(params: {
  cwd: string;
  additionalDirectories?: string[];
  mcpServers?: McpServer[];
}): SessionWorkspace {
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
