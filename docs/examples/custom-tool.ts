import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { z } from "zod";

// Reads ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY: pointed at Tandem, not a line of code changes.
const client = new Anthropic();

const weather = betaZodTool({
  name: "weather",
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  run: ({ city }) => `8 degrees and rain in ${city}`,
});

const agent = await client.beta.agents.create({
  name: "Forecaster",
  model: "claude-sonnet-5-5",
  tools: [
    {
      type: "custom",
      name: weather.name,
      description: "The weather of a city.",
      input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  ],
});
const session = await client.beta.sessions.create({
  agent: agent.id,
  environment_id: "env_local",
  initial_events: [{ type: "user.message", content: [{ type: "text", text: "Do I need an umbrella in Bern?" }] }],
});

// Runs what the model asks for, here, and ends when the turn has.
for await (const call of client.beta.sessions.events.toolRunner(session.id, { tools: [weather], maxIdleMs: 500 })) {
  console.log(`ran ${call.name}`);
}
const { data } = await client.beta.sessions.events.list(session.id, { types: ["agent.message"] });
console.log(JSON.stringify(data.map((event) => event.type === "agent.message" && event.content)));
