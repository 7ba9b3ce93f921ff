import Anthropic from "@anthropic-ai/sdk";
import { openTandem } from "tandem-agent-server";

// The whole server in this process: it reads ./tandem.yaml, and stops with the block.
await using tandem = await openTandem({ project: ".", env: process.env, port: 0 });
const apiKey = await tandem.createToken("my-app", { scopes: ["admin"] });
const client = new Anthropic({ baseURL: tandem.url, apiKey });

const agent = await client.beta.agents.create({ name: "Guide", model: "claude-sonnet-5-5" });
const environment = await client.beta.environments.create({ name: "embedded", config: { type: "cloud" } });
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });

const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: "user.message", content: [{ type: "text", text: "Name a river." }] }],
});
for await (const event of stream) {
  if (event.type === "agent.message") {
    for (const block of event.content) if (block.type === "text") console.log(block.text);
  }
  if (event.type === "session.status_idle") break;
}
