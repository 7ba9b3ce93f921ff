import type { McpServerConfig } from "@anthropic-ai/claude-agent-sdk";
import { createToolServer } from "../tool-server.ts";
import type { ConversationSetup } from "./conversation.ts";

/** The host's own tools: they run in this process, and no address or token of theirs leaves it. */
export const hostServers = ({ hostServers = [] }: ConversationSetup): Record<string, McpServerConfig> =>
  Object.fromEntries(
    hostServers.map(({ name, tools, timeoutMs }) => [
      name,
      createToolServer(
        tools,
        async (called, input, signal) => {
          const tool = tools.find((candidate) => candidate.name === called);
          return tool ? tool.run(input, signal) : { text: `There is no tool ${called}.`, isError: true };
        },
        { name, timeoutMs },
      ),
    ]),
  );
