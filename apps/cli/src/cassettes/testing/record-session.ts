import Anthropic from "@anthropic-ai/sdk";
import { parseCassette, type Emulator } from "@tandem/emulator";
import { cassette, formatCassette, type Cassette } from "@tandem/protocol";

/** Runs one turn in an emulator and exports the session. */
export async function recordSession(emulator: Emulator, prompt: string): Promise<Cassette> {
  const client = new Anthropic({ baseURL: emulator.url, apiKey: emulator.apiKey });
  const agent = await client.beta.agents.create({
    name: "tester",
    model: "claude-sonnet-5-5",
    tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
  });
  const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
  const stream = await client.beta.sessions.events.stream(id);
  const content = [{ type: "text" as const, text: prompt }];
  await client.beta.sessions.events.send(id, { events: [{ type: "user.message", content }] });
  for await (const event of stream) if (event.type === "session.status_idle") break;
  const response = await fetch(`${emulator.url}/v1/sessions/${id}/cassette`, {
    headers: { "x-api-key": emulator.apiKey },
  });
  return parseCassette(formatCassette(cassette.parse(await response.json())));
}
