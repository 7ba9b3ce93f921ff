import type { ConversationOutput } from "@tandem/claude-code";
import { costOf, dearestCostOf, noUsage, type EventOf, type ThreadId, type Clock } from "@tandem/protocol";
import { NOTHING, toAmount, type Amounts } from "./amounts.ts";

type OutputEvent = Extract<ConversationOutput, { type: "event" }>;
type RequestEnd = Pick<EventOf<"span.model_request_end">, "model_usage" | "tandem">;

/** About the size of Claude Code's initial instructions and tools. */
const FIRST_PROMPT = 16_000;
/** The estimated length is the last response's, but at least this. */
const SHORTEST_ANSWER = 1_000;
/** A prompt this recent is read from the cache; later it is written again, which costs more. */
const CACHE_MS = 5 * 60 * 1_000;

/** The last response on a thread, used to estimate the next. */
interface Seen {
  model: string;
  /** Its prompt and response, which form the next prompt. */
  context: number;
  output: number;
  at: number;
}

/**
 * Estimates the next responses: one for each active thread. The prompt is the current context at its model's price; the
 * response is like the last one. Because it is an estimate, a limit can be exceeded by one response per thread.
 */
export class NextAnswers {
  readonly #model: () => string;
  readonly #clock: Clock;
  readonly #seen = new Map<ThreadId | null, Seen>();
  /** Active subagents. */
  readonly #running = new Set<ThreadId>();
  /** Responses of subagents whose cost is not known yet. */
  readonly #unpriced = new Map<string, ThreadId>();
  /**
   * The cost of this turn's responses with an unknown price, at the most expensive model. The turn's end reports the actual
   * cost.
   */
  #assumed = 0;
  /** The primary thread has finished unless it calls a tool. */
  #expected = true;

  constructor(model: () => string, clock: Clock) {
    this.#model = model;
    this.#clock = clock;
  }

  /** The earlier state of the primary thread. */
  recall(end: RequestEnd, at: number): void {
    this.#learn(null, end, at);
  }

  beginTurn(): void {
    this.#running.clear();
    this.#unpriced.clear();
    this.#assumed = 0;
    this.#expected = true;
  }

  /** A thread is about to start. */
  expect(thread: ThreadId): void {
    this.#running.add(thread);
  }

  observe({ thread, id, event }: OutputEvent): void {
    switch (event.type) {
      case "session.thread_status_running":
        this.#running.add(event.session_thread_id);
        return;
      case "session.thread_status_idle":
      case "session.thread_status_terminated":
        this.#running.delete(event.session_thread_id);
        return;
      case "span.model_request_start":
        if (thread === null) this.#expected = false;
        else this.#unpriced.set(id, thread);
        return;
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use":
        if (thread === null) this.#expected = true;
        return;
      case "span.model_request_end":
        this.#unpriced.delete(event.model_request_start_id);
        this.#learn(thread, event, this.#clock.now());
        this.#assumed += assumedCost(event);
        return;
      default:
    }
  }

  /** Whether more responses are expected. */
  get expected(): boolean {
    return this.#expected || this.#running.size > 0;
  }

  /** Whether a price was assumed because a model's price is unknown. */
  get isAssumed(): boolean {
    return this.#assumed > 0 || costOf(this.#seen.get(null)?.model ?? this.#model(), noUsage()) === null;
  }

  get amounts(): Amounts {
    const threads: (ThreadId | null)[] = [
      ...(this.#expected ? [null] : []),
      ...this.#running,
      ...this.#unpriced.values(),
    ];
    let usd = toAmount("usd", this.#assumed);
    let { tokens } = NOTHING;
    for (const thread of threads) {
      const next = this.#next(thread);
      usd += next.usd;
      tokens += next.tokens;
    }
    return { ...NOTHING, usd, tokens, requests: threads.length };
  }

  #next(thread: ThreadId | null): { usd: number; tokens: number } {
    const seen = this.#seen.get(thread);
    const prompt = seen?.context ?? FIRST_PROMPT;
    const output = Math.max(SHORTEST_ANSWER, seen?.output ?? 0);
    const isCached = seen !== undefined && this.#clock.now() - seen.at < CACHE_MS;
    const usage = {
      ...noUsage(),
      outputTokens: output,
      cacheReadTokens: isCached ? prompt : 0,
      cacheWrite5mTokens: isCached ? 0 : prompt,
    };
    const { usd } = costOf(seen?.model ?? this.#model(), usage) ?? dearestCostOf(usage);
    return { usd: toAmount("usd", usd), tokens: prompt + output };
  }

  #learn(thread: ThreadId | null, { model_usage: usage, tandem: { model } }: RequestEnd, at: number): void {
    if (model === undefined) return;
    const prompt = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
    this.#seen.set(thread, { model, context: prompt + usage.output_tokens, output: usage.output_tokens, at });
  }
}

/** Zero if the price is known: then it is counted. */
function assumedCost({ model_usage: usage, tandem: note }: RequestEnd): number {
  if (note.model === undefined || costOf(note.model, noUsage()) !== null) return 0;
  const cacheWrite1hTokens = note.cache_write_1h_tokens ?? 0;
  return dearestCostOf({
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.cache_read_input_tokens,
    cacheWrite5mTokens: usage.cache_creation_input_tokens - cacheWrite1hTokens,
    cacheWrite1hTokens,
    webSearches: note.web_searches ?? 0,
  }).usd;
}
