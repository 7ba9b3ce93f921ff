import type { ConversationOutput } from "@tandem/claude-code";
import { costOf, dearestCostOf, type EventOf, type ThreadId } from "@tandem/protocol";
import { NOTHING, toAmount, type Amounts } from "./amounts.ts";
import { systemClock, type Clock } from "../host/clock.ts";

type OutputEvent = Extract<ConversationOutput, { type: "event" }>;
type RequestEnd = Pick<EventOf<"span.model_request_end">, "model_usage" | "tandem">;

/** About as long as the instructions and tools that Claude Code begins a conversation with. */
const FIRST_PROMPT = 16_000;
/** An answer is taken for as long as the last one, and for no shorter than this. */
const SHORTEST_ANSWER = 1_000;
/** A prompt that was sent so lately is read from the cache; after that, it is written there anew, which costs more. */
const CACHE_MS = 5 * 60 * 1_000;

/** What the last answer on a thread says about the next one. */
interface Seen {
  model: string;
  /** Its prompt, and the answer that is part of the next prompt. */
  context: number;
  output: number;
  at: number;
}

/**
 * What the next answers will take: one for each thread that is at work. The prompt is the context as it stands, at the
 * price of its model; the answer is like the last one. It is a guess, and the reason why a limit can be passed by one answer
 * of each thread.
 */
export class NextAnswers {
  readonly #model: () => string;
  readonly #clock: Clock;
  readonly #seen = new Map<ThreadId | null, Seen>();
  /** Subagents at work. */
  readonly #running = new Set<ThreadId>();
  /** Answers of subagents that have come, and whose cost is not known yet. */
  readonly #unpriced = new Map<string, ThreadId>();
  /** What answers of this turn took whose model has no known price, were it the dearest; the turn's end says what it was. */
  #assumed = 0;
  /** The primary thread has said all it has to say, unless it calls a tool. */
  #expected = true;

  constructor(model: () => string, clock: Clock = systemClock) {
    this.#model = model;
    this.#clock = clock;
  }

  /** What is known from before, of the primary thread. */
  recall(end: RequestEnd, at: number): void {
    this.#learn(null, end, at);
  }

  beginTurn(): void {
    this.#running.clear();
    this.#unpriced.clear();
    this.#assumed = 0;
    this.#expected = true;
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

  /** Whether anything more is to come, as far as one can tell. */
  get expected(): boolean {
    return this.#expected || this.#running.size > 0;
  }

  /** Whether a price had to be assumed, because that of a model is not known. */
  get isAssumed(): boolean {
    return this.#assumed > 0 || costOf(this.#seen.get(null)?.model ?? this.#model(), NO_USAGE) === null;
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
      ...NO_USAGE,
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

const NO_USAGE = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
  webSearches: 0,
};

/** Nothing, where the price is known: then it is counted. */
function assumedCost({ model_usage: usage, tandem: note }: RequestEnd): number {
  if (note.model === undefined || costOf(note.model, NO_USAGE) !== null) return 0;
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
