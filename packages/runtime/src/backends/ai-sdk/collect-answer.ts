import type {
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { parseJson, type Usage } from "@tandem/protocol";
import { readFirstUsage, readUsage } from "./read-usage.ts";

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

export interface ToolCall {
  id: string;
  name: string;
  /** Undefined if the model wrote invalid JSON. */
  input: unknown;
}

export interface ModelAnswer {
  /** The answer in the form in which it is sent back to the model. */
  content: AssistantPart[];
  text: string;
  toolCalls: ToolCall[];
  id?: string;
  modelId?: string;
  /** Usage reported so far; the first event contains most of it. */
  usage?: Usage;
  /** Options that the model or provider ignored. */
  warnings?: readonly SharedV4Warning[];
  /** Undefined if the stream ended before the answer. */
  finish?: LanguageModelV4FinishReason;
}

/** Reads a stream into `answer` up to its end. Throws the error of an error part. */
export async function collectAnswer(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  answer: ModelAnswer,
  alive: () => void,
): Promise<void> {
  const open = new Map<string, OpenBlock>();
  for await (const part of stream) {
    alive();
    switch (part.type) {
      case "stream-start":
        answer.warnings = part.warnings;
        break;
      case "text-start":
      case "reasoning-start": {
        const block: OpenBlock = { type: part.type === "text-start" ? "text" : "reasoning", text: "" };
        addMetadata(block, part.providerMetadata);
        open.set(part.id, block);
        answer.content.push(block);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const block = open.get(part.id);
        if (!block) break;
        block.text += part.delta;
        // A thought's signature arrives as metadata of its last delta, and must be sent back with it.
        addMetadata(block, part.providerMetadata);
        if (block.type === "text") answer.text += part.delta;
        break;
      }
      case "tool-call":
        answer.toolCalls.push({ id: part.toolCallId, name: part.toolName, input: parseJson(part.input || "{}") });
        answer.content.push({
          type: "tool-call",
          toolCallId: part.toolCallId,
          toolName: part.toolName,
          input: answer.toolCalls.at(-1)?.input ?? {},
          ...(part.providerMetadata && { providerOptions: part.providerMetadata }),
        });
        break;
      case "response-metadata":
        answer.id = part.id ?? answer.id;
        answer.modelId = part.modelId ?? answer.modelId;
        break;
      case "raw":
        answer.usage ??= readFirstUsage(part.rawValue);
        break;
      case "finish":
        answer.finish = part.finishReason;
        if (part.finishReason.unified !== "interrupted") answer.usage = readUsage(part.usage);
        break;
      case "error":
        throw part.error;
      default:
        break;
    }
  }
  // The API rejects empty text blocks in its input.
  answer.content = answer.content.filter((part) => part.type !== "text" || part.text.trim() !== "");
}

interface OpenBlock {
  type: "text" | "reasoning";
  text: string;
  providerOptions?: SharedV4ProviderMetadata;
}

function addMetadata(block: OpenBlock, metadata: SharedV4ProviderMetadata = {}): void {
  for (const [provider, values] of Object.entries(metadata)) {
    block.providerOptions = {
      ...block.providerOptions,
      [provider]: { ...block.providerOptions?.[provider], ...values },
    };
  }
}
