import { createSdkMcpServer, query, tool, type Options, type SDKResultMessage } from "@anthropic-ai/claude-agent-sdk";
import { findExecutable } from "@tandem/claude-code";
import { z } from "zod";
import { childVariables, MODEL, SYSTEM, TOOL, type Contender, type Surroundings } from "./contender.ts";

/** `query()` of the Agent SDK, one process a call, isolated as its documents advise. */
export function bareSdk(surroundings: Surroundings): Contender {
  const base: Options = {
    cwd: surroundings.folder,
    env: childVariables(surroundings),
    pathToClaudeCodeExecutable: findExecutable(),
    model: MODEL,
    systemPrompt: SYSTEM,
    settingSources: [],
    skills: [],
    plugins: [],
    tools: [],
    strictMcpConfig: true,
    persistSession: false,
    permissionMode: "dontAsk",
  };
  const call = async (prompt: string, options: Options): Promise<SDKResultMessage> => {
    let result: SDKResultMessage | undefined;
    for await (const message of query({ prompt, options: { ...base, ...options } }))
      if (message.type === "result") result = message;
    if (!result || result.is_error) throw new Error("no result");
    return result;
  };
  return {
    async text(prompt) {
      const result = await call(prompt, { maxTurns: 1 });
      return result.subtype === "success" ? result.result : "";
    },
    async object(prompt) {
      const { $schema: _, ...schema } = z.toJSONSchema(z.object({ answer: z.number() }), { target: "draft-7" });
      const result = await call(prompt, { maxTurns: 4, outputFormat: { type: "json_schema", schema } });
      return result.subtype === "success" ? result.structured_output : undefined;
    },
    async loop(prompt) {
      const run = tool(TOOL.name, TOOL.description, { word: z.string() }, async () => ({
        content: [{ type: "text", text: TOOL.answer }],
      }));
      const mcpServers = { app: createSdkMcpServer({ name: "app", tools: [run] }) };
      const result = await call(prompt, { maxTurns: 5, mcpServers, allowedTools: [`mcp__app__${TOOL.name}`] });
      return result.subtype === "success" ? result.result : "";
    },
    close: async () => {},
  };
}
