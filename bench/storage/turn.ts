import { newId, type SessionEvent, type SessionEventBody } from "@tandem/protocol";

const words =
  "the session reads a file changes two lines runs the tests and says what it found in plain words before it goes on ".split(
    " ",
  );

/** Text that compresses about as well as text does. */
function prose(bytes: number, seed: number): string {
  let text = "";
  for (let index = seed; text.length < bytes; index += 1) text += `${words[(index * 7919) % words.length]!} `;
  return text.slice(0, bytes);
}

type Body = SessionEventBody & { id?: SessionEvent["id"] };

/** The events of a turn: twelve, among them three tool calls with 2 KB of result each. */
export function realisticTurn(number: number): SessionEvent[] {
  const request = newId("event");
  const thinking = newId("event");
  const toolCall = (index: number): Body[] => {
    const id = newId("event");
    const input = { command: prose(120, number + index), description: prose(40, index) };
    const tandem = { tool_use_id: `toolu_${number}_${index}` };
    return [
      { type: "agent.tool_use", id, name: "Bash", input, evaluated_permission: "allow", tandem },
      { type: "agent.tool_result", tool_use_id: id, content: [{ type: "text", text: prose(2_048, number + index) }] },
    ];
  };
  const bodies: Body[] = [
    { type: "user.message", content: [{ type: "text", text: prose(300, number) }] },
    { type: "span.model_request_start", id: request, tandem: { model: "claude-sonnet-5-5" } },
    { type: "tandem.thinking", thinking_id: thinking, text: prose(900, number + 1), signature: prose(300, number + 2) },
    ...[0, 1, 2].flatMap(toolCall),
    { type: "agent.message", content: [{ type: "text", text: prose(800, number + 4) }] },
    {
      type: "span.model_request_end",
      model_request_start_id: request,
      is_error: false,
      model_usage: {
        input_tokens: 1_204,
        output_tokens: 480,
        cache_read_input_tokens: 18_220,
        cache_creation_input_tokens: 310,
      },
      tandem: { model: "claude-sonnet-5-5", message_id: `msg_${number}`, usd: 0.0141 },
    },
    { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null },
  ];
  return bodies.map((body) => ({ id: newId("event"), processed_at: new Date().toISOString(), ...body }));
}
