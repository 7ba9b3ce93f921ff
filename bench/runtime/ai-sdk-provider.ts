import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { findExecutable } from "@tandem/claude-code";
import { z } from "zod";
import { childVariables, MODEL, SYSTEM, TOOL, type Contender, type Surroundings } from "./contender.ts";
import { loadPeer } from "./load-peer.ts";

/** The AI SDK with the community provider `ai-sdk-provider-claude-code`. */
export async function aiSdkProvider(surroundings: Surroundings): Promise<Contender> {
  // It warns of every model that it does not know, on every call.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  const { createClaudeCode, generateText, Output } = await loadPeer();
  const run = tool(TOOL.name, TOOL.description, { word: z.string() }, async () => ({
    content: [{ type: "text", text: TOOL.answer }],
  }));
  const settings = {
    logger: false,
    cwd: surroundings.folder,
    env: childVariables(surroundings),
    pathToClaudeCodeExecutable: findExecutable(),
    settingSources: [],
    tools: [],
    persistSession: false,
    permissionMode: "dontAsk",
  };
  const model = (more: object = {}) => createClaudeCode({ defaultSettings: { ...settings, ...more } })(MODEL);
  return {
    async text(prompt) {
      return (await generateText({ model: model(), instructions: SYSTEM, prompt, maxRetries: 0 })).text;
    },
    async object(prompt) {
      const output = Output.object({ schema: z.object({ answer: z.number() }) });
      return (await generateText({ model: model(), instructions: SYSTEM, prompt, maxRetries: 0, output })).output;
    },
    async loop(prompt) {
      const mcpServers = { app: createSdkMcpServer({ name: "app", tools: [run] }) };
      const looping = model({ mcpServers, allowedTools: [`mcp__app__${TOOL.name}`], maxTurns: 5 });
      return (await generateText({ model: looping, instructions: SYSTEM, prompt, maxRetries: 0 })).text;
    },
    close: async () => {},
  };
}
