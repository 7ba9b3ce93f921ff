import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import Anthropic from "@anthropic-ai/sdk";

// The only two lines that differ from the hosted service.
const client = new Anthropic({
  baseURL: process.env["TANDEM_URL"] ?? "http://127.0.0.1:4760",
  apiKey: readFileSync(`${homedir()}/.tandem/token`, "utf8").trim(),
});

const agent = await client.beta.agents.create({
  name: "Coding Assistant",
  model: "claude-sonnet-5-5",
  system: "You are a helpful coding assistant.",
  tools: [{ type: "agent_toolset_20260401" }],
});
const environment = await client.beta.environments.create({
  name: "quickstart",
  config: { type: "cloud", networking: { type: "unrestricted" } },
});
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });

const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: "user.message", content: [{ type: "text", text: "Write hello.txt with the word hello in it." }] }],
});
for await (const event of stream) {
  if (event.type === "agent.message") {
    for (const block of event.content) if (block.type === "text") console.log(block.text);
  }
  if (event.type === "agent.tool_use") console.log(`[${event.name}: ${event.evaluated_permission}]`);
  if (event.type !== "session.status_idle") continue;
  if (event.stop_reason.type !== "requires_action") break;
  // Writing asks first here: this is your own machine.
  await client.beta.sessions.events.send(session.id, {
    events: event.stop_reason.event_ids.map((id) => ({
      type: "user.tool_confirmation" as const,
      tool_use_id: id,
      result: "allow" as const,
    })),
  });
}

const events = [];
for await (const event of client.beta.sessions.events.list(session.id)) events.push(event);
console.log(`${events.length} events, the last is ${events.at(-1)?.type}`);
