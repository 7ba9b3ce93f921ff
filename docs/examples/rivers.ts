import { homedir } from "node:os";
import { configSchema, createBackend, createRuntime, defineTool } from "tandem-agent-server/runtime";
import { z } from "zod";

const { llm: config } = configSchema.parse({ llm: { provider: { backend: "claude-code" } } });
const backend = await createBackend(config, {
  readSecret: async (place) => process.env[place.replace("env:", "")] ?? "", // not asked for where a login pays
  stateFolder: `${homedir()}/.tandem`,
  hostVariables: process.env,
});
const runtime = createRuntime({ config, backend, sink: (report) => console.log(report.payer, report.cost) });

console.log(await runtime.generateText({ role: "default", prompt: "Name a river." }));

const schema = z.object({ name: z.string(), lengthKm: z.number() });
console.log(await runtime.generateObject({ role: "default", prompt: "Describe the Rhine.", schema }));

const length = defineTool({
  name: "length",
  description: "The length of a river.",
  schema: z.object({ river: z.string() }),
  execute: async ({ river }) => ({ markdown: `${river}: 1,230 km` }),
});
const loop = await runtime.runAgentLoop({
  role: "default",
  prompt: "How long is the Rhine?",
  tools: [length],
  stepBudget: 5,
});
console.log(loop.stopReason, loop.steps, loop.text);

await runtime.close();
