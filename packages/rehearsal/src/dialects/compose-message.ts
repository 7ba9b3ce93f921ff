import { randomUUID } from "node:crypto";
import type { MessageReply, ReplyBlock, ReplyUsage, StopReason } from "../reply.ts";

/** An assistant message in the wire format of the Messages API. */
export interface Message {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly model: string;
  readonly content: readonly MessageBlock[];
  readonly stop_reason: StopReason;
  readonly stop_sequence: string | null;
  readonly stop_details: { type: "refusal"; category: null; explanation: string | null } | null;
  readonly container: null;
  readonly context_management: null;
  readonly diagnostics: null;
  readonly usage: MessageUsage;
}

export type MessageBlock =
  | { readonly type: "text"; readonly text: string; readonly citations: null }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: object;
      readonly caller: { readonly type: "direct" };
    };

export interface MessageUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
  readonly server_tool_use: { web_search_requests: number; web_fetch_requests: number } | null;
  readonly service_tier: "standard";
  readonly speed: "standard";
  readonly inference_geo: null;
  readonly output_tokens_details: null;
  readonly iterations: null;
  readonly fallback_credit: null;
}

/** Builds the message of a reply for `model`. Ids are new each time, like the API's. */
export function composeMessage(reply: MessageReply, model: string): Message {
  const { options } = reply;
  const content = reply.content.map(composeBlock);
  const stopReason = options.stopReason ?? (content.some((b) => b.type === "tool_use") ? "tool_use" : "end_turn");
  const explanation = reply.content.map((b) => (b.type === "text" ? b.text : "")).join("") || null;
  return {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model: options.model ?? model,
    content,
    stop_reason: stopReason,
    stop_sequence: options.stopSequence ?? null,
    stop_details: stopReason === "refusal" ? { type: "refusal", category: null, explanation } : null,
    container: null,
    context_management: null,
    diagnostics: null,
    usage: composeUsage(options.usage ?? {}),
  };
}

function composeBlock(block: ReplyBlock): MessageBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, citations: null };
    case "tool_use":
      return {
        type: "tool_use",
        id: block.id ?? newId("toolu"),
        name: block.name,
        input: block.input,
        caller: { type: "direct" },
      };
    case "thinking":
    case "redacted_thinking":
      return block;
    default:
      return block satisfies never;
  }
}

function composeUsage(usage: ReplyUsage): MessageUsage {
  const cacheCreation = {
    ephemeral_5m_input_tokens: usage.cache_creation?.ephemeral_5m_input_tokens ?? 0,
    ephemeral_1h_input_tokens: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
  };
  const created = cacheCreation.ephemeral_5m_input_tokens + cacheCreation.ephemeral_1h_input_tokens;
  if (!usage.cache_creation) cacheCreation.ephemeral_5m_input_tokens = usage.cache_creation_input_tokens ?? 0;
  const { server_tool_use: tools } = usage;
  return {
    input_tokens: usage.input_tokens ?? 10,
    output_tokens: usage.output_tokens ?? 5,
    cache_read_input_tokens: usage.cache_read_input_tokens ?? 0,
    cache_creation_input_tokens: usage.cache_creation_input_tokens ?? created,
    cache_creation: cacheCreation,
    server_tool_use: tools
      ? { web_search_requests: tools.web_search_requests ?? 0, web_fetch_requests: tools.web_fetch_requests ?? 0 }
      : null,
    service_tier: "standard",
    speed: "standard",
    inference_geo: null,
    output_tokens_details: null,
    iterations: null,
    fallback_credit: null,
  };
}

export function newId(prefix: string): string {
  return `${prefix}_01${randomUUID().replaceAll("-", "").slice(0, 22)}`;
}
