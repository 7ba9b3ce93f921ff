import Anthropic from "@anthropic-ai/sdk";
import type { Emulator } from "../emulator.ts";

type AgentTools = Anthropic.Beta.AgentCreateParams["tools"];

const ALLOW_ALL: AgentTools = [{ type: "agent_toolset_20260401" }];

type Event = Awaited<ReturnType<typeof firstPage>>[number];
const firstPage = async (client: Anthropic, id: string) => (await client.beta.sessions.events.list(id)).data;

/** A session of a new agent, driven by the official client. */
export async function emulatedSession(emulator: Emulator, tools: AgentTools = ALLOW_ALL) {
  const client = new Anthropic({ baseURL: emulator.url, apiKey: emulator.apiKey });
  const agent = await client.beta.agents.create({
    name: "tester",
    model: "claude-sonnet-5-5",
    ...(tools && { tools }),
  });
  const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
  const log = async (): Promise<Event[]> => {
    const events: Event[] = [];
    for await (const event of client.beta.sessions.events.list(id, { limit: 1_000 })) events.push(event);
    return events;
  };
  const say = (text: string) =>
    client.beta.sessions.events.send(id, { events: [{ type: "user.message", content: [{ type: "text", text }] }] });
  /** Sends a message and returns the events until the session is idle. */
  const turn = async (text: string): Promise<Event[]> => {
    const stream = await client.beta.sessions.events.stream(id);
    await say(text);
    const events: Event[] = [];
    for await (const event of stream) {
      if (!("id" in event)) continue;
      events.push(event);
      if (event.type === "session.status_idle") break;
    }
    return events;
  };
  return { client, agent, id, say, turn, log };
}

export const textsOf = (events: readonly { type: string }[]): string[] =>
  events.flatMap((event) =>
    event.type === "agent.message" && "content" in event
      ? (event.content as { text: string }[]).map(({ text }) => text)
      : [],
  );
