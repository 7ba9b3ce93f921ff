import type Anthropic from "@anthropic-ai/sdk";
import { formatCassette, parseCassette, type Cassette } from "@tandem/protocol";
import { expect } from "vitest";
import type { Emulator } from "../../emulator.ts";
import type { emulatedSession } from "../../testing/emulated-session.ts";

export type AgentTools = Anthropic.Beta.AgentCreateParams["tools"];
type Session = Awaited<ReturnType<typeof emulatedSession>>;

export const ASKING: AgentTools = [
  { type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_ask" } } },
];
export const CUSTOM: AgentTools = [
  {
    type: "custom",
    name: "lookup",
    description: "Looks a word up.",
    input_schema: { type: "object", properties: { word: { type: "string" } } },
  },
];

export const QUESTION = {
  questions: [
    {
      question: "Which one?",
      header: "Pick",
      multiSelect: false,
      options: [
        { label: "Left", description: "The left one." },
        { label: "Right", description: "The right one." },
      ],
    },
  ],
};

/** Reads a session's cassette through its file. */
export async function exported(emulator: Emulator, id: string): Promise<Cassette> {
  const response = await fetch(`${emulator.url}/v1/sessions/${id}/cassette`, {
    headers: { "x-api-key": emulator.apiKey },
  });
  expect(response.status).toBe(200);
  const cassette = (await response.json()) as Cassette;
  return parseCassette(formatCassette(cassette));
}

/** Sends a message and answers every call that waits, until the session is idle. */
export async function answeredTurn(
  { client, id, say }: Session,
  words: string,
  answer: (call: {
    name: string;
    event: string;
    input: unknown;
  }) => Anthropic.Beta.Sessions.EventSendParams["events"][number],
): Promise<void> {
  const stream = await client.beta.sessions.events.stream(id);
  await say(words);
  const calls = new Map<string, { name: string; input: unknown }>();
  const answered = new Set<string>();
  for await (const event of stream) {
    if (event.type === "agent.tool_use" || event.type === "agent.custom_tool_use") calls.set(event.id, event);
    if (event.type !== "session.status_idle") continue;
    if (event.stop_reason.type !== "requires_action") return;
    for (const call of event.stop_reason.event_ids.filter((each) => !answered.has(each))) {
      answered.add(call);
      await client.beta.sessions.events.send(id, {
        events: [answer({ name: "", input: {}, ...calls.get(call), event: call })],
      });
    }
  }
}
