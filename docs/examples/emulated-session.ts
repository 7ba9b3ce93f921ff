import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { startEmulator, text, toolUse } from "tandem-agent-server/emulator";

await using emulator = await startEmulator({
  script: [toolUse("Bash", { command: "npm test" }), text("Two tests fail.")],
  tools: { Bash: () => "2 failed" },
});
const client = new Anthropic({ baseURL: emulator.url, apiKey: emulator.apiKey });
const agent = await client.beta.agents.create({
  name: "tester",
  model: "claude-sonnet-5-5",
  tools: [{ type: "agent_toolset_20260401" }],
});
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });

// The answer to this request is lost. The client repeats it, and the message arrives once.
emulator.faults.next({ type: "lost_answer" }, { method: "POST", path: "/events" });
const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: "user.message", content: [{ type: "text", text: "Do the tests pass?" }] }],
});
for await (const event of stream) if (event.type === "session.status_idle") break;

const { data: events } = await client.beta.sessions.events.list(session.id);
const answers = events.flatMap((event) => (event.type === "agent.message" ? event.content : []));
assert.deepEqual(answers, [{ type: "text", text: "Two tests fail." }]);
assert.equal(emulator.model.modelRequests[1]?.toolResults[0]?.text, "2 failed");
assert.equal(events.filter(({ type }) => type === "user.message").length, 1);
emulator.model.assertDone();
