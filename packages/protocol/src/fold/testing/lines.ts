import { expect } from "vitest";
import type { Permission } from "../../events/tool-event.ts";
import { message, type Message, type Part } from "../message.ts";
import { project } from "../projection.ts";
import { eventId, log, type Line } from "./log.ts";

export const text = (words: string) => ({ type: "text", text: words }) as const;
export const asks = (words: string): Line => ({ type: "user.message", content: [text(words)] });
export const says = (words: string): Line => ({ type: "agent.message", content: [text(words)] });
export const use = (as: string, permission?: Permission): Line => ({
  type: "agent.tool_use",
  as,
  name: "Bash",
  input: { command: "ls" },
  ...(permission && { evaluated_permission: permission }),
  tandem: { tool_use_id: `toolu_${as}` },
});
export const result = (of: string, words: string, more: object = {}): Line => ({
  type: "agent.tool_result",
  tool_use_id: eventId(of),
  content: [text(words)],
  ...more,
});
export const answer = (of: string, given: "allow" | "deny", deny_message?: string): Line => ({
  type: "user.tool_confirmation",
  tool_use_id: eventId(of),
  result: given,
  deny_message,
});
export const running: Line = { type: "session.status_running" };
export const idle: Line = { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null };
export const start = (as: string): Line => ({ type: "span.model_request_start", as });
export const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 1 };
export const end = (of: string): Line => ({
  type: "span.model_request_end",
  model_request_start_id: eventId(of),
  is_error: false,
  model_usage: usage,
  tandem: { model: "claude-sonnet-5-5", usd: 0.25 },
});

/** The messages of a log, validated against their schema. */
export function fold(...lines: Line[]): readonly Message[] {
  const messages = project(log(...lines));
  for (const each of messages) expect(message.parse(each)).toEqual(each);
  return messages;
}
export const partsOf = (...lines: Line[]): Part[] => fold(...lines).flatMap(({ parts }) => parts);
export const only = (...lines: Line[]): Part => {
  const parts = partsOf(...lines);
  expect(parts).toHaveLength(1);
  return parts[0]!;
};
