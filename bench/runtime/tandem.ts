import { configSchema } from "@tandem/protocol";
import { createBackend, createRuntime, defineTool } from "@tandem/runtime";
import { z } from "zod";
import { MODEL, SYSTEM, TOOL, type Contender, type Surroundings } from "./contender.ts";

/** This project's runtime, from its public API down to the binary. */
export async function tandem(
  mode: "off" | "single-use" | "reuse",
  { url, folder, concurrency }: Surroundings,
  pool: { size?: number; idle?: string } = {},
): Promise<Contender> {
  const config = configSchema.parse({
    llm: {
      provider: { backend: "claude-code" },
      claudeCode: { auth: "api_key", baseUrl: url },
      models: { default: MODEL },
      limits: { concurrency },
      pool: { mode, size: Math.max(3, concurrency), ...pool },
    },
  }).llm;
  const hostVariables = { PATH: process.env["PATH"] ?? "", HOME: folder };
  const backend = await createBackend(config, {
    readSecret: async () => "sk-ant-made-up",
    stateFolder: folder,
    hostVariables,
  });
  const runtime = createRuntime({ config, backend, sink: () => {} });
  const request = (prompt: string) => ({ role: "default", system: SYSTEM, prompt }) as const;
  const lookUp = defineTool({
    name: TOOL.name,
    description: TOOL.description,
    schema: z.object({ word: z.string() }),
    execute: async () => ({ markdown: TOOL.answer }),
  });
  const schema = z.object({ answer: z.number() });
  return {
    text: (prompt) => runtime.generateText(request(prompt)),
    object: (prompt) => runtime.generateObject({ ...request(prompt), schema }),
    async loop(prompt) {
      const result = await runtime.runAgentLoop({ ...request(prompt), tools: [lookUp], stepBudget: 5 });
      if (result.error) throw result.error;
      return result.text;
    },
    close: () => runtime.close(),
  };
}
