import type { SDKAssistantMessage, SDKPartialAssistantMessage } from "@anthropic-ai/claude-agent-sdk";
import { costOf, type EventId, type ModelUsage, type ThreadId } from "@tandem/protocol";
import { z } from "zod";
import type { Emit } from "./emit.ts";
import type { Reported } from "./reported-usage.ts";

const count = z
  .number()
  .nullish()
  .transform((value) => value ?? undefined);
const wireUsage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  cache_creation: z.object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }).nullish(),
  server_tool_use: z.object({ web_search_requests: count }).nullish(),
  speed: z.string().nullish(),
});
type WireUsage = z.infer<typeof wireUsage>;

/** A transcript line with a complete answer and its usage. */
const answerLine = z.object({
  type: z.literal("assistant"),
  message: z.object({ id: z.string(), stop_reason: z.string(), usage: wireUsage }),
});

type WholeAnswer = Pick<SDKAssistantMessage["message"], "id" | "model" | "stop_reason"> & { usage: unknown };

interface Span {
  thread: ThreadId | null;
  start: EventId;
  model?: string;
  messageId?: string;
  usage: WireUsage;
  stopReason?: string | null;
  ended?: boolean;
}

/**
 * Model requests from start to end, each counted once. The primary thread's usage comes from the stream; subagents are
 * not streamed, so theirs comes from their transcripts.
 */
export class Spans {
  readonly #emit: Emit;
  readonly #isFree: boolean;
  #open: Span | undefined;
  /** Id of the primary thread's answer that was counted last. */
  #streamed = "";
  readonly #ofSubagents = new Map<string, Span>();
  readonly #told = new Map<string, WireUsage>();
  /** Usage by model of requests that ended since the last `takeCounted`. */
  #counted: Reported = {};

  constructor(emit: Emit, isFree = false) {
    this.#emit = emit;
    this.#isFree = isFree;
  }

  /** A request of the primary thread was sent or retried. */
  begin(): void {
    if (!this.#open) this.#open = this.#start(null);
  }

  stream(event: SDKPartialAssistantMessage["event"]): void {
    switch (event.type) {
      case "message_start": {
        // A broken stream restarts without a notice.
        if (this.#open?.messageId) this.fail();
        this.begin();
        this.#streamed = event.message.id;
        Object.assign(this.#open!, {
          model: event.message.model,
          messageId: event.message.id,
          usage: wireUsage.parse(event.message.usage),
        });
        return;
      }
      case "message_delta":
        if (!this.#open) return;
        this.#open.usage = latest(this.#open.usage, wireUsage.parse(event.usage));
        this.#open.stopReason = event.delta.stop_reason;
        return;
      case "message_stop":
        // A broken stream is closed without a stop reason.
        if (this.#open) this.#end(this.#open, !this.#open.stopReason);
        this.#open = undefined;
        return;
      default:
    }
  }

  /** The request failed, or its answer was cut off. */
  fail(): void {
    if (this.#open) this.#end(this.#open, true);
    this.#open = undefined;
  }

  /** An unstreamed answer: the stream broke, or an earlier process received it. */
  whole({ id, model, usage, stop_reason: stopReason }: WholeAnswer): void {
    if (id === this.#streamed || stopReason === null) return;
    this.begin();
    this.#streamed = id;
    this.#end({ ...this.#open!, model, messageId: id, usage: wireUsage.parse(usage) }, false);
    this.#open = undefined;
  }

  /** An answer of a subagent. */
  answer(thread: ThreadId, { id, model, usage }: SDKAssistantMessage["message"]): void {
    if (this.#ofSubagents.has(id)) return;
    const span: Span = { ...this.#start(thread, model), model, messageId: id, usage: wireUsage.parse(usage) };
    // Keep it after its end, so that later blocks of the same answer start no second span.
    this.#ofSubagents.set(id, span);
    const told = this.#told.get(id);
    this.#told.delete(id);
    if (told) this.#endSubagent(span, told);
  }

  /** A new line of a subagent's transcript. */
  transcript(line: unknown): void {
    const answer = answerLine.safeParse(line).data?.message;
    if (!answer) return;
    const span = this.#ofSubagents.get(answer.id);
    if (!span) this.#told.set(answer.id, answer.usage);
    else this.#endSubagent(span, answer.usage);
  }

  /** Ends open requests of finished threads; their transcripts are complete. */
  settle(which: (thread: ThreadId) => boolean): void {
    for (const span of this.#ofSubagents.values()) {
      if (span.thread !== null && which(span.thread)) this.#endSubagent(span, span.usage);
    }
  }

  takeCounted(): Reported {
    const counted = this.#counted;
    this.#counted = {};
    return counted;
  }

  /** A request that was not streamed and appears only in the turn's total. */
  unseen(model: string, usage: ModelUsage, usd: number): void {
    const start = this.#emit.event(null, { type: "span.model_request_start", tandem: { model } });
    this.#emit.event(null, {
      type: "span.model_request_end",
      model_request_start_id: start,
      is_error: false,
      model_usage: usage,
      tandem: { model, usd: this.#isFree ? 0 : usd },
    });
  }

  #start(thread: ThreadId | null, model?: string): Span {
    const start = this.#emit.event(thread, {
      type: "span.model_request_start",
      ...(model !== undefined && { tandem: { model } }),
    });
    return { thread, start, usage: wireUsage.parse({}) };
  }

  #endSubagent(span: Span, usage: WireUsage): void {
    if (span.ended) return;
    span.ended = true;
    this.#end({ ...span, usage }, false);
  }

  #end({ thread, start, model, messageId, usage }: Span, failed: boolean): void {
    const tokens = toModelUsage(usage);
    const write1h = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0;
    const write5m = tokens.cache_creation_input_tokens - write1h;
    const webSearches = usage.server_tool_use?.web_search_requests ?? 0;
    const cost =
      model === undefined
        ? null
        : costOf(model, {
            inputTokens: tokens.input_tokens,
            outputTokens: tokens.output_tokens,
            cacheReadTokens: tokens.cache_read_input_tokens,
            cacheWrite5mTokens: write5m,
            cacheWrite1hTokens: write1h,
            webSearches,
          });
    const usd = this.#isFree ? 0 : cost?.usd;
    this.#emit.event(thread, {
      type: "span.model_request_end",
      model_request_start_id: start,
      is_error: failed,
      model_usage: tokens,
      tandem: {
        ...(model !== undefined && { model }),
        ...(messageId !== undefined && { message_id: messageId }),
        ...(write5m > 0 && { cache_write_5m_tokens: write5m }),
        ...(write1h > 0 && { cache_write_1h_tokens: write1h }),
        ...(webSearches > 0 && { web_searches: webSearches }),
        ...(usd !== undefined && { usd }),
      },
    });
    if (model !== undefined) this.#counted[model] = add(this.#counted[model], { ...tokens, usd: usd ?? 0 });
  }
}

/** Final figures override the first ones; absent fields keep the first value. */
const latest = (first: WireUsage, final: WireUsage): WireUsage => ({
  ...first,
  ...Object.fromEntries(Object.entries(final).filter(([, value]) => value !== undefined && value !== null)),
});

const toModelUsage = (usage: WireUsage): ModelUsage => ({
  input_tokens: usage.input_tokens ?? 0,
  output_tokens: usage.output_tokens ?? 0,
  cache_read_input_tokens: usage.cache_read_input_tokens ?? 0,
  cache_creation_input_tokens: usage.cache_creation_input_tokens ?? 0,
  // Anthropic's service reports it only for fast mode; Claude Code always does.
  ...(usage.speed === "fast" && { speed: usage.speed }),
});

const add = (a: Reported[string] | undefined, b: Reported[string]): Reported[string] => ({
  input_tokens: (a?.input_tokens ?? 0) + b.input_tokens,
  output_tokens: (a?.output_tokens ?? 0) + b.output_tokens,
  cache_read_input_tokens: (a?.cache_read_input_tokens ?? 0) + b.cache_read_input_tokens,
  cache_creation_input_tokens: (a?.cache_creation_input_tokens ?? 0) + b.cache_creation_input_tokens,
  usd: (a?.usd ?? 0) + b.usd,
});
