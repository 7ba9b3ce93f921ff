import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { LlmError } from "@tandem/protocol";
import type { BackendCall } from "../../llm-backend.ts";
import { asLlmError } from "./as-llm-error.ts";
import { collectAnswer, type ModelAnswer } from "./collect-answer.ts";
import { type Deadlines, underDeadlines } from "./deadlines.ts";

export type Ask = (
  options: Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "responseFormat">,
) => Promise<ModelAnswer>;

// Pings show activity while a model thinks silently. Raw events contain the usage at the start of an answer, which is
// otherwise known only at its end.
const STREAM_OPTIONS = { includeRawChunks: true, providerOptions: { anthropic: { includePings: true } } };

/**
 * One model request per attempt. Streamed, to detect a stalled connection; read to its end, so that a broken one can be
 * retried safely. Resolves only with a complete answer.
 */
export function createAsk(model: LanguageModelV4, call: BackendCall, deadlines: Deadlines): Ask {
  const counted = new Set<string>();
  const count = ({ id, modelId, usage }: ModelAnswer) => {
    if (!usage || counted.has(id ?? "")) return;
    if (id) counted.add(id);
    call.onUsage(modelId ?? model.modelId, usage);
  };
  const request = async (options: Parameters<Ask>[0]): Promise<ModelAnswer> => {
    const answer: ModelAnswer = { content: [], text: "", toolCalls: [] };
    try {
      await underDeadlines(deadlines, call.signal, async (abortSignal, alive) => {
        const { stream } = await model.doStream({
          ...options,
          ...STREAM_OPTIONS,
          temperature: call.temperature,
          abortSignal,
        });
        await collectAnswer(stream, answer, alive);
      });
    } finally {
      count(answer);
    }
    for (const warning of answer.warnings ?? []) {
      if (warning.type === "unsupported") call.onIgnored(warning.feature, warning.details ?? "The model has none.");
    }
    requireComplete(answer);
    return answer;
  };
  return (options) =>
    call.attempt(async () => {
      try {
        return await request(options);
      } catch (error) {
        throw asLlmError(error, call.signal);
      }
    });
}

function requireComplete({ finish, text }: ModelAnswer): void {
  const { unified, raw } = finish ?? {};
  if (unified === "content-filter") {
    throw new LlmError("refused", text.trim() ? `The model declined: ${text.trim()}` : "The model declined to answer.");
  }
  if (raw === "model_context_window_exceeded") {
    throw new LlmError("prompt_too_long", "Prompt and answer together are longer than the model's context window.");
  }
  if (unified === "length") throw new LlmError("max_tokens", "The answer was cut at the model's output limit.");
  if (unified === "error") throw new LlmError("server_error", "The service gave up in the middle of the answer.");
  if (!finish || unified === "interrupted" || (unified === "other" && raw === undefined)) {
    throw new LlmError("network", "The connection ended before the answer did.");
  }
}
