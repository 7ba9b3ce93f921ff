import {
  StatusTimes,
  type Clock,
  type EventOf,
  type ModelUsage,
  type RequestNote,
  type SessionEventBody,
  type ThreadId,
  type UsageNote,
  type UsageSnapshot,
} from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { NO_USAGE } from "./outcome-state.ts";

interface Count {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  webSearches: number;
  /** A request of unknown price counts nothing until the turn's end, when Claude Code reports its cost. */
  usd: number;
}

type Priced = ModelUsage & { usd: number };
type RequestEnd = Pick<EventOf<"span.model_request_end">, "model_usage" | "tandem">;

/** Our table and Claude Code's may round differently. */
const PRICE_NOISE = 1e-6;

const nothing = (): Count => ({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  webSearches: 0,
  usd: 0,
});

/**
 * The usage of a session: a sum over its model requests by model and thread, each counted once by the id of its response. At
 * the end of a turn it is compared with Claude Code's report.
 */
export class UsageLedger {
  readonly #primary: ThreadId;
  readonly #byModel = new Map<string, Count>();
  readonly #byThread = new Map<string, Count>();
  readonly #seen = new Set<string>();
  #turn = new Map<string, Priced>();
  /** Requests besides the conversation's, by message, since the last comparison. */
  readonly #aside = new Map<string, RequestEnd & { model: string }>();
  readonly times: StatusTimes;
  readonly #clock: Pick<Clock, "now">;
  /** Model responses. */
  requests: number;
  /** Ended turns. */
  turns: number;
  /** Time that counts for budgets: without waits for people. */
  workedMs: number;

  /** Continues from the session's last `session.usage`. */
  constructor(
    primary: ThreadId,
    clock: Pick<Clock, "now">,
    before?: { note: UsageNote | undefined; times?: StatusTimes },
  ) {
    this.#primary = primary;
    this.times = before?.times ?? new StatusTimes();
    this.#clock = clock;
    this.requests = before?.note?.requests ?? 0;
    this.turns = before?.note?.turns ?? 0;
    this.workedMs = before?.note?.worked_ms ?? 0;
    for (const [model, snapshot] of Object.entries(before?.note?.by_model ?? {})) {
      this.#byModel.set(model, fromSnapshot(snapshot));
    }
    for (const [thread, snapshot] of Object.entries(before?.note?.by_thread ?? {})) {
      this.#byThread.set(thread, fromSnapshot(snapshot));
    }
  }

  /** A request of a dead process, which will not report it. */
  carry(thread: ThreadId | null, end: RequestEnd): void {
    const turn = this.#turn;
    this.#turn = new Map();
    this.add(thread, end);
    this.#turn = turn;
  }

  add(thread: ThreadId | null, end: RequestEnd): void {
    const { message_id: message, model } = end.tandem;
    if (!model || (message && this.#seen.has(message))) return;
    if (message) {
      this.#seen.add(message);
      this.#takeBack(message);
    }
    this.requests += 1;
    this.#count(model, thread ?? this.#primary, end.model_usage, end.tandem);
    const before = this.#turn.get(model);
    this.#turn.set(model, { ...sum(before, end.model_usage), usd: (before?.usd ?? 0) + (end.tandem.usd ?? 0) });
  }

  /**
   * A request that the sandbox's gateway saw. If it turns out to be one of the conversation, that one counts instead. False
   * if it was counted already.
   */
  addAside(end: RequestEnd): boolean {
    const { message_id: message, model } = end.tandem;
    if (!model || !message || this.#seen.has(message) || this.#aside.has(message)) return false;
    this.#aside.set(message, { ...end, model });
    this.requests += 1;
    this.#count(model, this.#primary, end.model_usage, end.tandem);
    return true;
  }

  /** Whether the request is still none of the conversation's. */
  isAside({ tandem: { message_id: message } }: RequestEnd): boolean {
    return message !== undefined && this.#aside.has(message);
  }

  #takeBack(message: string): void {
    const aside = this.#aside.get(message);
    if (!aside) return;
    this.#aside.delete(message);
    this.requests -= 1;
    const { usd, cache_write_1h_tokens: write1h, web_searches: searches } = aside.tandem;
    const note = { usd: -(usd ?? 0), cache_write_1h_tokens: -(write1h ?? 0), web_searches: -(searches ?? 0) };
    this.#count(aside.model, this.#primary, subtract(NO_USAGE, aside.model_usage), note);
  }

  /** Requests besides the conversation's: Claude Code reports its own ones among them, not those of other programs. */
  #settleAside(): Map<string, Priced> {
    const sums = new Map<string, Priced>();
    for (const [message, { model, model_usage: usage, tandem }] of this.#aside) {
      const before = sums.get(model);
      sums.set(model, { ...sum(before, usage), usd: (before?.usd ?? 0) + (tandem.usd ?? 0) });
      this.#seen.add(message);
    }
    this.#aside.clear();
    return sums;
  }

  /**
   * Ends a turn. Cost that Claude Code reports and no request showed is counted too, so that none is missed. Returns both views
   * if they differ.
   */
  reconcile(
    reported: Record<string, Priced>,
  ): { counted: Record<string, ModelUsage>; reported: Record<string, ModelUsage> } | undefined {
    const counted = this.#turn;
    this.#turn = new Map();
    const aside = this.#settleAside();
    let differs = [...counted.keys()].some((model) => !(model in reported));
    for (const [model, total] of Object.entries(reported)) {
      const surplus = subtract(total, counted.get(model));
      const missing = subtract(surplus, aside.get(model));
      const usd = total.usd - (counted.get(model)?.usd ?? 0) - (aside.get(model)?.usd ?? 0);
      const unseen = FIELDS.some((field) => missing[field] > 0);
      differs ||= unseen || FIELDS.some((field) => surplus[field] < 0);
      if (unseen || usd > PRICE_NOISE) {
        this.#count(model, this.#primary, atLeastNothing(missing), { usd: Math.max(usd, 0) });
      }
    }
    if (!differs) return undefined;
    return { counted: tokens(counted), reported: tokens(Object.entries(reported)) };
  }

  get usd(): number {
    return [...this.#byModel.values()].reduce((total, count) => total + count.usd, 0);
  }

  /** The stored form. */
  get microUsd(): number {
    return Math.round(this.usd * 1_000_000);
  }

  get microUsdByModel(): Record<string, number> {
    return Object.fromEntries([...this.#byModel].map(([model, { usd }]) => [model, Math.round(usd * 1_000_000)]));
  }

  get total(): UsageSnapshot {
    return toSnapshot([...this.#byModel.values()].reduce(add, nothing()), this.times.at(this.#clock.now()).activeMs);
  }

  thread(id: ThreadId): UsageSnapshot | null {
    const count = this.#byThread.get(id);
    return count ? toSnapshot(count, 0) : null;
  }

  /** The list price of a thread so far; undefined if it has used nothing. */
  usdOf(thread: ThreadId): number | undefined {
    return this.#byThread.get(thread)?.usd;
  }

  get note(): UsageNote {
    const all = (counts: Map<string, Count>): UsageNote["by_model"] =>
      Object.fromEntries([...counts].map(([key, count]) => [key, { ...toSnapshot(count, 0), usd: count.usd }]));
    const { usd, requests, turns, workedMs: worked_ms } = this;
    return { usd, by_model: all(this.#byModel), by_thread: all(this.#byThread), requests, turns, worked_ms };
  }

  #count(model: string, thread: ThreadId, usage: ModelUsage, note: RequestNote): void {
    const cacheWrite1h = note.cache_write_1h_tokens ?? 0;
    const count: Count = {
      input: usage.input_tokens,
      output: usage.output_tokens,
      cacheRead: usage.cache_read_input_tokens,
      cacheWrite5m: usage.cache_creation_input_tokens - cacheWrite1h,
      cacheWrite1h,
      webSearches: note.web_searches ?? 0,
      usd: note.usd ?? 0,
    };
    this.#byModel.set(model, add(this.#byModel.get(model) ?? nothing(), count));
    this.#byThread.set(thread, add(this.#byThread.get(thread) ?? nothing(), count));
  }
}

export const noUsageYet = (): UsageSnapshot => toSnapshot(nothing(), 0);

const FIELDS = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"] as const;

const tokens = (priced: Iterable<[string, Priced]>): Record<string, ModelUsage> =>
  Object.fromEntries([...priced].map(([model, usage]) => [model, sum(undefined, usage)]));

const combine = (a: ModelUsage, b: ModelUsage, with_: (a: number, b: number) => number): ModelUsage => ({
  input_tokens: with_(a.input_tokens, b.input_tokens),
  output_tokens: with_(a.output_tokens, b.output_tokens),
  cache_read_input_tokens: with_(a.cache_read_input_tokens, b.cache_read_input_tokens),
  cache_creation_input_tokens: with_(a.cache_creation_input_tokens, b.cache_creation_input_tokens),
});
const sum = (a: ModelUsage | undefined, b: ModelUsage): ModelUsage => combine(a ?? NO_USAGE, b, (x, y) => x + y);
const subtract = (a: ModelUsage, b: ModelUsage | undefined): ModelUsage => combine(a, b ?? NO_USAGE, (x, y) => x - y);
const atLeastNothing = (usage: ModelUsage): ModelUsage => combine(usage, NO_USAGE, Math.max);

const add = (a: Count, b: Count): Count => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite5m: a.cacheWrite5m + b.cacheWrite5m,
  cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
  webSearches: a.webSearches + b.webSearches,
  usd: a.usd + b.usd,
});

const toSnapshot = (count: Count, activeMs: number): UsageSnapshot => ({
  input_tokens: count.input,
  output_tokens: count.output,
  cache_read_input_tokens: count.cacheRead,
  cache_creation: { ephemeral_5m_input_tokens: count.cacheWrite5m, ephemeral_1h_input_tokens: count.cacheWrite1h },
  ...(count.webSearches > 0 && { server_tool_use: { web_search_requests: count.webSearches } }),
  list_cost: { amount: String(Math.round(count.usd * 100)), currency: "USD" },
  active_seconds: Math.round(activeMs / 100) / 10,
});

const fromSnapshot = (snapshot: UsageSnapshot & { usd: number }): Count => ({
  input: snapshot.input_tokens,
  output: snapshot.output_tokens,
  cacheRead: snapshot.cache_read_input_tokens,
  cacheWrite5m: snapshot.cache_creation.ephemeral_5m_input_tokens,
  cacheWrite1h: snapshot.cache_creation.ephemeral_1h_input_tokens,
  webSearches: snapshot.server_tool_use?.web_search_requests ?? 0,
  usd: snapshot.usd,
});

export const usageEvent = (ledger: UsageLedger, { budget }: SessionRow): SessionEventBody => ({
  type: "session.usage",
  usage: ledger.total,
  budget,
  tandem: ledger.note,
});
