import type { SDKMessage, SDKResultMessage } from "@anthropic-ai/claude-agent-sdk";
import { addUsage, LlmError, noUsage, type Usage } from "@tandem/protocol";
import { turnError } from "../turn-error.ts";

export interface ModelUse {
  model: string;
  usage: Usage;
}

/** Outcome of one turn. Has either `error` or `stop`. */
export interface TurnOutcome {
  /** The model's last answer, all text blocks joined. */
  text: string;
  /** Number of model answers in this turn. */
  answers: number;
  /** One entry per model request where the stream allows it, otherwise one per model. */
  used: readonly ModelUse[];
  stop?: "natural" | "budget";
  error?: LlmError;
}

/**
 * Reads the messages of one turn up to its result. Pure. No single field is reliable: a `success` result with
 * `is_error` is an error, and a turn ended by the step budget is `budget` in any spelling.
 */
export class TurnReader {
  readonly #answerIds = new Set<string>();
  readonly #streamed = new Map<string, ModelUse>();
  #lastId = "";
  #text = "";
  #assistantError: string | undefined;
  #rateLimitResetsAt: Date | undefined;
  #streamingId = "";

  /** Takes one message; returns the outcome if it was the turn's result. */
  accept(message: SDKMessage, totalsBefore: Record<string, Usage> = {}): TurnOutcome | undefined {
    switch (message.type) {
      case "assistant":
        if (message.parent_tool_use_id) return;
        if (message.error) {
          this.#assistantError = message.error;
          return;
        }
        this.#readAnswer(message.message);
        return;
      case "stream_event":
        return message.parent_tool_use_id ? undefined : this.#readStreamEvent(message.event);
      case "rate_limit_event":
        if (message.rate_limit_info.status === "rejected" && message.rate_limit_info.resetsAt) {
          this.#rateLimitResetsAt = new Date(message.rate_limit_info.resetsAt * 1_000);
        }
        return;
      case "result":
        return this.#finish(message, totalsBefore);
      default:
        return;
    }
  }

  /** Usage so far from the stream, one entry per answer, for a turn without a result. */
  get usedSoFar(): readonly ModelUse[] {
    return [...this.#streamed.values()];
  }

  #readAnswer(message: { id: string; content: unknown }): void {
    this.#answerIds.add(message.id);
    if (message.id !== this.#lastId) {
      this.#lastId = message.id;
      this.#text = "";
    }
    for (const block of blocks(message.content)) if (block.type === "text") this.#text += String(block["text"]);
  }

  #readStreamEvent(event: StreamEvent): TurnOutcome | undefined {
    if (event.type === "message_start") {
      const { id, model, usage } = event.message;
      this.#streamingId = id;
      this.#streamed.set(id, { model, usage: fromWire(usage) });
    } else if (event.type === "message_delta") {
      const entry = this.#streamed.get(this.#streamingId);
      if (entry) entry.usage.outputTokens = event.usage.output_tokens;
      // Claude Code would continue by itself, and its result would contain only the last part.
      if (event.delta.stop_reason === "max_tokens") return this.#cut();
    }
    return undefined;
  }

  #cut(): TurnOutcome {
    const error = new LlmError("max_tokens", "The answer was cut at the model's output limit.");
    return { text: this.#text, answers: this.#answerIds.size, used: this.usedSoFar, error };
  }

  /**
   * The result's totals are correct but not split by request; the stream is split but may be incomplete. Use the stream
   * only if it adds up to the total of the single model used.
   */
  #used(totals: Record<string, Usage>): readonly ModelUse[] {
    const entries = Object.entries(totals).map(([model, usage]) => ({ model, usage }));
    const streamed = [...this.#streamed.values()];
    const [only, ...others] = entries;
    const sum = streamed.map(({ usage }) => usage).reduce(addUsage, noUsage());
    // An interrupted answer appears only in the stream.
    if (!only) return streamed;
    if (others.length > 0 || FIELDS.some((field) => sum[field] !== only.usage[field])) return entries;
    return streamed.map(({ usage }) => ({ model: only.model, usage }));
  }

  #finish(result: SDKResultMessage, totalsBefore: Record<string, Usage>): TurnOutcome {
    const outcome = {
      text: this.#text,
      answers: this.#answerIds.size,
      used: this.#used(difference(resultTotals(result), totalsBefore)),
    };
    if (isBudget(result)) return { ...outcome, stop: "budget" };
    if (result.subtype === "success" && !result.is_error && isNatural(result.terminal_reason)) {
      return { ...outcome, stop: "natural" };
    }
    return { ...outcome, error: turnError(result, this.#assistantError, this.#rateLimitResetsAt) };
  }
}

/** The SDK's totals, cumulative since the last reset. */
export const resultTotals = (result: SDKResultMessage): Record<string, Usage> =>
  Object.fromEntries(
    Object.entries(result.modelUsage).map(([model, used]) => {
      const cacheWrite1hTokens = used.cacheCreationEphemeral1hInputTokens ?? 0;
      return [
        model,
        {
          inputTokens: used.inputTokens,
          outputTokens: used.outputTokens,
          cacheReadTokens: used.cacheReadInputTokens,
          cacheWrite5mTokens: used.cacheCreationInputTokens - cacheWrite1hTokens,
          cacheWrite1hTokens,
          webSearches: used.webSearchRequests,
        },
      ];
    }),
  );

// `hook_stopped` is how our step budget ends a turn; no other hook stops one.
const isBudget = (result: SDKResultMessage): boolean =>
  result.subtype === "error_max_turns" ||
  result.terminal_reason === "max_turns" ||
  result.stop_reason === "max_turns" ||
  result.terminal_reason === "hook_stopped";

const isNatural = (reason: string | undefined): boolean => reason === undefined || reason === "completed";

type StreamEvent = Extract<SDKMessage, { type: "stream_event" }>["event"];
type WireUsage = Extract<StreamEvent, { type: "message_start" }>["message"]["usage"];

function fromWire(usage: WireUsage): Usage {
  const cacheWrite1hTokens = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWrite5mTokens: (usage.cache_creation_input_tokens ?? 0) - cacheWrite1hTokens,
    cacheWrite1hTokens,
    webSearches: usage.server_tool_use?.web_search_requests ?? 0,
  };
}

const FIELDS = Object.keys(noUsage()) as (keyof Usage)[];

function difference(totals: Record<string, Usage>, before: Record<string, Usage>): Record<string, Usage> {
  const result: Record<string, Usage> = {};
  for (const [model, usage] of Object.entries(totals)) {
    const used = { ...usage };
    for (const field of FIELDS) used[field] -= before[model]?.[field] ?? 0;
    if (FIELDS.some((field) => used[field] > 0)) result[model] = used;
  }
  return result;
}

type Block = { type: string } & Record<string, unknown>;

const blocks = (content: unknown): Block[] => (Array.isArray(content) ? (content as Block[]) : []);
