import type { SDKMessage, SDKResultMessage } from "@anthropic-ai/claude-agent-sdk";
import { noUsage, type LlmError, type Usage } from "@tandem/protocol";
import { turnError } from "./turn-error.ts";

/** What one turn came to. `error` and `stop` exclude each other. */
export interface TurnOutcome {
  /** The text of the model's last answer, all blocks of it. */
  text: string;
  /** Answers of the model in this turn. */
  answers: number;
  /** Tool results that were errors: thrown, bad input, or a tool that is not there. */
  toolFailures: number;
  usageByModel: Record<string, Usage>;
  stop?: "natural" | "budget";
  error?: LlmError;
}

/**
 * Reads the messages of one turn up to its result. Pure: messages in, outcome out. It trusts no single signal: a result
 * called `success` with `is_error` is an error, and one that a step budget ended is `budget` however it is spelt.
 */
export class TurnReader {
  readonly #answerIds = new Set<string>();
  readonly #streamed = new Map<string, { model: string; usage: Usage }>();
  #lastId = "";
  #text = "";
  #toolFailures = 0;
  #assistantError: string | undefined;
  #rateLimitResetsAt: Date | undefined;
  #streamingId = "";

  /** Takes one message; returns the outcome when it was the turn's result. */
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
      case "user":
        this.#readToolResults(message.message.content);
        return;
      case "stream_event":
        this.#readStreamEvent(message.event);
        return;
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

  /** What was used so far, for a turn that will have no result: taken from the stream, one entry per answer. */
  get usageSoFar(): Record<string, Usage> {
    const byModel: Record<string, Usage> = {};
    for (const { model, usage } of this.#streamed.values()) byModel[model] = sum(byModel[model], usage);
    return byModel;
  }

  #readAnswer(message: { id: string; content: unknown }): void {
    this.#answerIds.add(message.id);
    if (message.id !== this.#lastId) {
      this.#lastId = message.id;
      this.#text = "";
    }
    for (const block of blocks(message.content)) if (block.type === "text") this.#text += String(block["text"]);
  }

  #readToolResults(content: unknown): void {
    for (const block of blocks(content)) {
      if (block.type === "tool_result" && block["is_error"] === true) this.#toolFailures += 1;
    }
  }

  #readStreamEvent(event: StreamEvent): void {
    if (event.type === "message_start") {
      const { id, model, usage } = event.message;
      this.#streamingId = id;
      this.#streamed.set(id, { model, usage: fromWire(usage) });
    } else if (event.type === "message_delta") {
      const entry = this.#streamed.get(this.#streamingId);
      if (entry) entry.usage.outputTokens = event.usage.output_tokens;
    }
  }

  #finish(result: SDKResultMessage, totalsBefore: Record<string, Usage>): TurnOutcome {
    const outcome = {
      text: this.#text,
      answers: this.#answerIds.size,
      toolFailures: this.#toolFailures,
      usageByModel: difference(resultTotals(result), totalsBefore),
    };
    if (isBudget(result)) return { ...outcome, stop: "budget" };
    if (result.subtype === "success" && !result.is_error && isNatural(result.terminal_reason)) {
      return { ...outcome, stop: "natural" };
    }
    return { ...outcome, error: turnError(result, this.#assistantError, this.#rateLimitResetsAt) };
  }
}

/** Totals since the last reset of the conversation; the SDK's are cumulative. */
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

// `hook_stopped` is how our own step budget ends a turn; no other hook of ours stops one.
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

function combine(a: Usage | undefined, b: Usage, sign: 1 | -1): Usage {
  const result = noUsage();
  for (const field of FIELDS) result[field] = (a?.[field] ?? 0) + sign * b[field];
  return result;
}

const sum = (a: Usage | undefined, b: Usage): Usage => combine(a, b, 1);

function difference(totals: Record<string, Usage>, before: Record<string, Usage>): Record<string, Usage> {
  const result: Record<string, Usage> = {};
  for (const [model, usage] of Object.entries(totals)) {
    const used = before[model] ? combine(usage, before[model], -1) : usage;
    if (FIELDS.some((field) => used[field] > 0)) result[model] = used;
  }
  return result;
}

type Block = { type: string } & Record<string, unknown>;

const blocks = (content: unknown): Block[] => (Array.isArray(content) ? (content as Block[]) : []);
