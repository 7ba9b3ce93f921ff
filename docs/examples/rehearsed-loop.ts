import assert from "node:assert/strict";
import { overloaded, startRehearsal, text, toolUse, when } from "tandem-agent-rehearsal";
import {
  type CallReport,
  configSchema,
  createBackend,
  createRuntime,
  defineTool,
  type Wait,
} from "tandem-agent-server/runtime";
import { z } from "zod";

await using rehearsal = await startRehearsal([
  overloaded(),
  toolUse("look", { at: "the door" }),
  when(({ toolResults }) => toolResults[0]?.text === "It is blue.", text("The door is blue.")),
]);

const { llm: config } = configSchema.parse({
  llm: { provider: { backend: "anthropic", anthropic: { baseUrl: rehearsal.url } } },
});
const backend = await createBackend(config, {
  readSecret: async () => "made-up",
  stateFolder: "unused", // only the claude-code backend keeps state
  hostVariables: {},
});
const reports: CallReport[] = [];
const runtime = createRuntime({ config, backend, sink: (report) => reports.push(report) });

const waits: Wait[] = [];
const look = defineTool({
  name: "look",
  description: "Looks at something.",
  schema: z.object({ at: z.string() }),
  execute: async () => ({ markdown: "It is blue.", structured: { colour: "#00f" } }),
});
const result = await runtime.runAgentLoop({
  role: "triage",
  system: "Answer in one sentence.",
  prompt: "Which colour has the door?",
  tools: [look],
  stepBudget: 3,
  onWait: (wait) => waits.push(wait),
});
await runtime.close();

// What the caller got.
assert.equal(result.stopReason, "natural");
assert.equal(result.text, "The door is blue.");
assert.equal(result.steps, 2);
assert.deepEqual(
  waits.map(({ reason, attempt }) => [reason, attempt]),
  [["overloaded", 2]],
);
assert.equal(reports[0]?.attempts, 2);

// What the model got.
const [, first, second] = rehearsal.modelRequests;
assert.equal(first?.system, "Answer in one sentence.");
assert.deepEqual(first.toolNames, ["look"]);
assert.equal(second?.toolResults[0]?.text, "It is blue.");
rehearsal.assertDone();
