import { z } from "zod";
import type { WireDialect, StreamFrame } from "./wire-dialect.ts";
import { piecesOf, tokensOf } from "./wire-dialect.ts";
import type { Message, MessageBlock } from "./compose-message.ts";
import type { ModelQuestion, ReceivedRequest, RequestBlock } from "../received-request.ts";
import { textOf } from "../received-request.ts";

const content = z
  .union([z.string(), z.array(z.looseObject({ type: z.string() }))])
  .transform((value): RequestBlock[] => (typeof value === "string" ? [{ type: "text", text: value }] : value));

const body = z.looseObject({
  model: z.string().optional(),
  stream: z.boolean().optional(),
  max_tokens: z.number(),
  system: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).optional(),
  tools: z
    .array(
      z.looseObject({ name: z.string(), description: z.string().optional(), input_schema: z.unknown().optional() }),
    )
    .optional(),
  tool_choice: z.unknown().optional(),
  thinking: z.unknown().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content })),
});

/** Parses a Messages API body; Vertex uses the same, with the model in the path. */
export function readMessagesBody(request: ReceivedRequest): Omit<ModelQuestion, "model"> & { model?: string } {
  const parsed = body.parse(request.body);
  return {
    model: parsed.model,
    stream: parsed.stream ?? false,
    maxTokens: parsed.max_tokens,
    system: textOf(parsed.system),
    tools: (parsed.tools ?? []).map((tool) => ({
      name: tool.name,
      description: tool.description ?? "",
      inputSchema: tool.input_schema,
    })),
    toolChoice: parsed.tool_choice,
    thinking: parsed.thinking,
    messages: parsed.messages,
  };
}

export const anthropicDialect: WireDialect = {
  name: "anthropic",
  read(request) {
    const question = readMessagesBody(request);
    if (question.model === undefined) throw new Error("model: Field required");
    return { ...question, model: question.model };
  },
  json: (message) => message,
  frames: streamMessage,
  errorBody: (_status, type, message) => ({ type: "error", error: { type, message } }),
  errorFrame: (type, message) => event({ type: "error", error: { type, message } }),
};

/** Streams a message with the events, order and fields of the real API. */
function streamMessage(message: Message): StreamFrame[] {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = message.usage;
  const { output_tokens_details, server_tool_use, iterations, fallback_credit } = message.usage;
  const tokens = { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens };
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { ...message.usage, output_tokens: 1, server_tool_use: null },
  };
  return [
    frame({ type: "message_start", message: start }),
    ...message.content.flatMap((block, index) => streamBlock(block, index)),
    frame({
      type: "message_delta",
      delta: {
        stop_reason: message.stop_reason,
        stop_sequence: message.stop_sequence,
        stop_details: message.stop_details,
        container: null,
      },
      context_management: null,
      usage: { ...tokens, output_tokens_details, server_tool_use, iterations, fallback_credit },
    }),
    frame({ type: "message_stop" }),
  ];
}

function streamBlock(block: MessageBlock, index: number): StreamFrame[] {
  const start = (content_block: object) => frame({ type: "content_block_start", index, content_block });
  const delta = (delta: object) => frame({ type: "content_block_delta", index, delta }, true);
  const stop = frame({ type: "content_block_stop", index });
  const ping = index === 0 ? [frame({ type: "ping" })] : [];
  switch (block.type) {
    case "text":
      return [
        start({ ...block, text: "" }),
        ...ping,
        ...tokensOf(block.text).map((text) => delta({ type: "text_delta", text })),
        stop,
      ];
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...ping,
        ...tokensOf(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature }),
        stop,
      ];
    case "redacted_thinking":
      return [start(block), ...ping, stop];
    case "tool_use":
      return [
        start({ ...block, input: {} }),
        ...ping,
        ...["", ...piecesOf(JSON.stringify(block.input))].map((partial_json) =>
          delta({ type: "input_json_delta", partial_json }),
        ),
        stop,
      ];
    default:
      return block satisfies never;
  }
}

function frame(payload: { type: string; [field: string]: unknown }, token = false): StreamFrame {
  return { data: event(payload), token };
}

function event(payload: { type: string; [field: string]: unknown }): string {
  return `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
}
