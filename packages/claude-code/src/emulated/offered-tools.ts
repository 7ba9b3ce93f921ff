import type { ConversationSetup } from "../session/conversation.ts";
import { OUTPUT_TOOL } from "../session/process-options.ts";
import { toolNames } from "../session/tool-names.ts";
import type { ModelRequest } from "./stream-model.ts";

type OfferedTool = ModelRequest["tools"][number];

const ANY_OBJECT = { type: "object" };

/** The tools of a conversation by the names that Claude Code gives them. Built-in tools have no schema here. */
export function offeredTools(setup: ConversationSetup): OfferedTool[] {
  const { customServer, workerServer = "" } = toolNames(setup);
  const { connectedServers = [], hostServers = [], workerTools = [], outputSchema } = setup;
  const builtin = setup.tools.map((name) => ({ name, description: "", input_schema: ANY_OBJECT }));
  const custom = setup.customTools.map(({ name, description, input_schema }) =>
    offered(customServer, { name, description, inputSchema: { ...input_schema } }),
  );
  const servers = [...connectedServers, ...hostServers].flatMap(({ name: server, tools }) =>
    tools.map(({ name, description = "", inputSchema }) =>
      offered(server, { name, description, inputSchema: { ...inputSchema } }),
    ),
  );
  const worker = workerTools.map((tool) => offered(workerServer, tool));
  const output = outputSchema ? [{ name: OUTPUT_TOOL, description: "", input_schema: outputSchema }] : [];
  return [...builtin, ...custom, ...servers, ...worker, ...output];
}

const offered = (
  server: string,
  { name, description, inputSchema }: { name: string; description: string; inputSchema: Record<string, unknown> },
): OfferedTool => ({ name: `mcp__${server}__${name}`, description, input_schema: inputSchema });
