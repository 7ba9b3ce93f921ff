import { z } from "zod";
import type { WireDialect, StreamFrame } from "./wire-dialect.ts";
import { piecesOf, tokensOf } from "./wire-dialect.ts";
import type { Message, MessageBlock, MessageUsage } from "./compose-message.ts";
import { newId } from "./compose-message.ts";
import type { RequestBlock, RequestMessage } from "../received-request.ts";
import type { StopReason } from "../reply.ts";

/** `/v4/ai/language-model`, under any base URL. */
export const gatewayPath = /\/language-model$/;

/** The AI gateway's protocol, version 4: the AI SDK's call options and parts as JSON. */
export const gatewayDialect: WireDialect = {
  name: "gateway",
  read(request) {
    const { prompt, ...options } = body.parse(request.body);
    const { "ai-language-model-id": model, "ai-language-model-streaming": streaming } = headers.parse(request.headers);
    return {
      model,
      stream: streaming === "true",
      maxTokens: options.maxOutputTokens,
      system: prompt.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n\n"),
      tools: (options.tools ?? []).map((tool) => ({
        name: tool.name,
        description: tool.description ?? "",
        inputSchema: tool.inputSchema,
      })),
      toolChoice: options.toolChoice,
      thinking: options.providerOptions?.["anthropic"]?.["thinking"] ?? options.reasoning,
      messages: prompt.flatMap((message) => (message.role === "system" ? [] : [readMessage(message)])),
    };
  },
  json: (message) => ({
    content: message.content.map(contentPart),
    finishReason: finishReason(message.stop_reason),
    usage: usage(message.usage),
    providerMetadata: providerMetadata(message),
    response: { id: message.id, modelId: message.model, timestamp: new Date().toISOString() },
    warnings: [],
  }),
  frames: streamParts,
  errorBody: (status, type, message) => ({
    error: { message, type: errorType(status, type), param: null, code: null },
    generationId: newId("gen"),
  }),
  errorFrame: (type, message) => part({ type: "error", error: { type: errorType(500, type), message } }).data,
};

const headers = z.looseObject({ "ai-language-model-id": z.string(), "ai-language-model-streaming": z.string() });

const promptMessage = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: z.string() }),
  z.looseObject({ role: z.enum(["user", "assistant", "tool"]), content: z.array(z.looseObject({ type: z.string() })) }),
]);

const body = z.looseObject({
  prompt: z.array(promptMessage),
  maxOutputTokens: z.number().optional(),
  tools: z
    .array(z.looseObject({ name: z.string(), description: z.string().optional(), inputSchema: z.unknown().optional() }))
    .optional(),
  toolChoice: z.unknown().optional(),
  reasoning: z.unknown().optional(),
  providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
});

/** Uses Anthropic's wire names, so that predicates and assertions work for every dialect. */
function readMessage(message: { role: "user" | "assistant" | "tool"; content: RequestBlock[] }): RequestMessage {
  return { role: message.role === "tool" ? "user" : message.role, content: message.content.map(readPart) };
}

function readPart(part: RequestBlock): RequestBlock {
  switch (part.type) {
    case "reasoning":
      return { ...part, type: "thinking", thinking: part["text"] };
    case "tool-call":
      return { ...part, type: "tool_use", id: part["toolCallId"], name: part["toolName"] };
    case "tool-result": {
      const output = toolOutput.parse(part["output"]);
      const content = typeof output.value === "string" || Array.isArray(output.value) ? output.value : undefined;
      return {
        type: "tool_result",
        tool_use_id: part["toolCallId"],
        content: content ?? output.reason ?? JSON.stringify(output.value),
        is_error: output.type.startsWith("error") || output.type === "execution-denied",
      };
    }
    default:
      return part;
  }
}

const toolOutput = z.looseObject({ type: z.string(), value: z.unknown().optional(), reason: z.string().optional() });

function contentPart(block: MessageBlock): object {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "reasoning", text: block.thinking, ...metadata({ signature: block.signature }) };
    case "redacted_thinking":
      return { type: "reasoning", text: "", ...metadata({ redactedData: block.data }) };
    case "tool_use":
      return toolCall(block);
    default:
      return block satisfies never;
  }
}

function toolCall(block: { id: string; name: string; input: object }) {
  return { type: "tool-call", toolCallId: block.id, toolName: block.name, input: JSON.stringify(block.input) };
}

function streamParts(message: Message): StreamFrame[] {
  return [
    part({ type: "stream-start", warnings: [] }),
    part({ type: "response-metadata", id: message.id, modelId: message.model, timestamp: new Date().toISOString() }),
    ...message.content.flatMap((block, index) => streamBlock(block, String(index))),
    part({
      type: "finish",
      finishReason: finishReason(message.stop_reason),
      usage: usage(message.usage),
      providerMetadata: providerMetadata(message),
    }),
    { data: "data: [DONE]\n\n", token: false },
  ];
}

function streamBlock(block: MessageBlock, id: string): StreamFrame[] {
  switch (block.type) {
    case "text":
      return [
        part({ type: "text-start", id }),
        ...tokensOf(block.text).map((delta) => part({ type: "text-delta", id, delta }, true)),
        part({ type: "text-end", id }),
      ];
    case "thinking":
      return [
        part({ type: "reasoning-start", id }),
        ...tokensOf(block.thinking).map((delta) => part({ type: "reasoning-delta", id, delta }, true)),
        part({ type: "reasoning-delta", id, delta: "", ...metadata({ signature: block.signature }) }, true),
        part({ type: "reasoning-end", id }),
      ];
    case "redacted_thinking":
      return [
        part({ type: "reasoning-start", id, ...metadata({ redactedData: block.data }) }),
        part({ type: "reasoning-end", id }),
      ];
    case "tool_use":
      return [
        part({ type: "tool-input-start", id: block.id, toolName: block.name }),
        ...piecesOf(JSON.stringify(block.input)).map((delta) =>
          part({ type: "tool-input-delta", id: block.id, delta }, true),
        ),
        part({ type: "tool-input-end", id: block.id }),
        part(toolCall(block)),
      ];
    default:
      return block satisfies never;
  }
}

function part(payload: object, token = false): StreamFrame {
  return { data: `data: ${JSON.stringify(payload)}\n\n`, token };
}

function metadata(anthropic: object) {
  return { providerMetadata: { anthropic } };
}

function providerMetadata(message: Message) {
  return {
    anthropic: { usage: message.usage, stopSequence: message.stop_sequence },
    gateway: { generationId: newId("gen") },
  };
}

function usage(usage: MessageUsage) {
  const { input_tokens: noCache, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite } = usage;
  return {
    inputTokens: { total: noCache + cacheRead + cacheWrite, noCache, cacheRead, cacheWrite },
    outputTokens: { total: usage.output_tokens },
    raw: usage,
  };
}

function finishReason(raw: StopReason) {
  const unified: Record<StopReason, string> = {
    end_turn: "stop",
    pause_turn: "stop",
    stop_sequence: "stop",
    refusal: "content-filter",
    tool_use: "tool-calls",
    max_tokens: "length",
    model_context_window_exceeded: "length",
  };
  return { unified: unified[raw], raw };
}

function errorType(status: number, type: string): string {
  const byType: Record<string, string> = {
    invalid_request_error: "invalid_request_error",
    request_too_large: "invalid_request_error",
    authentication_error: "authentication_error",
    permission_error: "forbidden",
    not_found_error: "model_not_found",
    rate_limit_error: "rate_limit_exceeded",
  };
  return byType[type] ?? (status < 500 ? "invalid_request_error" : "internal_server_error");
}
